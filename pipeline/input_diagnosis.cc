#include "pipeline/input_diagnosis.h"

#include <algorithm>
#include <string_view>

#include "models/base/errors.h"

namespace bench {
namespace {

constexpr double kTolerance = 0.1;
constexpr double kRelevantShare = 0.1;

/// True if `speed` reaches the limit.
bool reaches(double speed, double limit) { return speed >= (1 - kTolerance) * limit; }

std::string speed_text(double speed) { return fmt::format("{:.{}f}", speed, speed < 100 ? 1 : 0); }

std::string gain_text(const DiagnosedSpeeds& speeds, double limit) {
  return fmt::format("{} images/sec ({:+.0f} %)", speed_text(limit),
                     100 * std::max(limit / speeds.both - 1, 0.0));
}

/// The slowest part of the input.
std::string_view part_of_input(InputBound bound) {
  switch (bound) {
    case InputBound::parse:
      return "checking and parsing records";
    case InputBound::decode:
      return "decoding JPEGs";
    case InputBound::resize:
      return "resizing images";
    case InputBound::reading:
      return "the reading thread";
    case InputBound::storage:
      return "the storage";
    case InputBound::processors:
      return "other programs use the processors";
    case InputBound::quota:
      return "the cgroup's CPU quota";
    case InputBound::device:
    case InputBound::copy:
    case InputBound::unclear:
      break;
  }
  return "which part is unclear";
}

}  // namespace

DiagnosedBound diagnose(const DiagnosedSpeeds& speeds) {
  if (reaches(speeds.both, speeds.device)) {
    return DiagnosedBound::device;
  }
  if (reaches(speeds.both, speeds.with_copies)) {
    return DiagnosedBound::copy;
  }
  if (reaches(speeds.both, speeds.input)) {
    return DiagnosedBound::input;
  }
  return speeds.share_of_input > kRelevantShare ? DiagnosedBound::processors
                                                : DiagnosedBound::unclear;
}

std::string describe(const DiagnosedSpeeds& speeds, const InputVerdict& input,
                     const InputInterval& interval) {
  switch (diagnose(speeds)) {
    case DiagnosedBound::device:
      return fmt::format("the device is the limit; a faster input would give at most {}",
                         gain_text(speeds, speeds.device));
    case DiagnosedBound::copy:
      return fmt::format("copies to the device are the limit; without them, the device reaches {}",
                         gain_text(speeds, speeds.device));
    case DiagnosedBound::input:
      return fmt::format(
          "the input is the limit ({}); with a faster one, the device reaches {}; preparing images "
          "at that speed takes about {:.1f} processors, and this process may use {}",
          part_of_input(input.bound), gain_text(speeds, speeds.with_copies),
          input.processors_used * speeds.with_copies / speeds.input, interval.processors);
    case DiagnosedBound::processors:
      return fmt::format(
          "input and device share {} processors; if each had that many for itself, the run would "
          "reach up to {}",
          interval.processors, gain_text(speeds, std::min(speeds.with_copies, speeds.input)));
    case DiagnosedBound::unclear:
      break;
  }
  return "inconclusive: input and device are each faster alone; measure longer, without other "
         "programs";
}

}  // namespace bench
