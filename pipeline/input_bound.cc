#include "pipeline/input_bound.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "models/base/errors.h"

namespace bench {
namespace {

/// Up to this share of waits, the device is the bound. (TensorFlow's profiler: 5 %.)
constexpr double kToleratedWait = 0.05;
/// The bound works at least this share of the time.
constexpr double kBusy = 0.7;
/// Threads that wait longer than this share of their work lack processors.
constexpr double kDelayed = 0.25;

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

double busy_share(const ThreadTimes& times) {
  return ratio(seconds(times.work), seconds(times.work + times.waited));
}

/// The delays within the work. Others ended a wait.
double delays(const ThreadTimes& times) {
  return std::min(seconds(times.delayed), std::max(seconds(times.work - times.processor), 0.0));
}

bool lacks_processors(const ThreadTimes& times) {
  return ratio(delays(times), seconds(times.work)) > kDelayed;
}

InputBound bound_of_preparing(const InputStatistics& done) {
  if (lacks_processors(done.preparing)) {
    return InputBound::processors;
  }
  const std::array stages = {std::pair(done.parse_busy, InputBound::parse),
                             std::pair(done.decode_busy, InputBound::decode),
                             std::pair(done.resize_busy, InputBound::resize)};
  return std::max_element(stages.begin(), stages.end())->second;
}

InputBound bound_of_reading(const ThreadTimes& reading) {
  if (lacks_processors(reading)) {
    return InputBound::processors;
  }
  // The rest of the work is waits for storage.
  return ratio(seconds(reading.processor), seconds(reading.work)) > 0.5 ? InputBound::reading
                                                                        : InputBound::storage;
}

InputBound bound_of(const InputVerdict& verdict, const InputStatistics& done) {
  if (verdict.waited < kToleratedWait) {
    return InputBound::device;
  }
  if (std::max(verdict.reading_busy, verdict.preparing_busy) < kBusy) {
    return InputBound::unclear;
  }
  return verdict.preparing_busy >= verdict.reading_busy ? bound_of_preparing(done)
                                                        : bound_of_reading(done.reading);
}

std::string count_of(double images_per_second) {
  return fmt::format("{:.{}f}", images_per_second, images_per_second < 100 ? 1 : 0);
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string threads_text(int threads) {
  return threads == 1 ? "1 thread" : fmt::format("{} threads", threads);
}

/// What the slowest part of the preparing threads does.
std::string_view work_of(InputBound bound) {
  switch (bound) {
    case InputBound::parse:
      return "checking and parsing records";
    case InputBound::decode:
      return "decoding JPEGs";
    default:
      return "resizing images";
  }
}

double share_of(InputBound bound, const InputStatistics& done) {
  const std::chrono::nanoseconds part = bound == InputBound::parse    ? done.parse_busy
                                        : bound == InputBound::decode ? done.decode_busy
                                                                      : done.resize_busy;
  return ratio(seconds(part), seconds(done.parse_busy + done.decode_busy + done.resize_busy));
}

std::string remedy(const InputVerdict& verdict, const InputInterval& interval) {
  const double needed = std::ceil(verdict.processors_needed);
  if (needed > interval.processors) {
    return fmt::format("that needs about {} processors, and this process may use {}", needed,
                       interval.processors);
  }
  return fmt::format("--datasets_num_private_threads={} would suffice", needed);
}

}  // namespace

std::string_view name_of(InputBound bound) {
  switch (bound) {
    case InputBound::device:
      return "device";
    case InputBound::parse:
      return "parse";
    case InputBound::decode:
      return "decode";
    case InputBound::resize:
      return "resize";
    case InputBound::reading:
      return "reading";
    case InputBound::storage:
      return "storage";
    case InputBound::processors:
      return "processors";
    case InputBound::unclear:
      break;
  }
  return "unclear";
}

InputVerdict judge_input(const InputInterval& interval) {
  const InputStatistics& done = interval.done;
  const double wall = seconds(interval.wall);
  const double images = static_cast<double>(done.images_delivered);
  check(wall > 0 && images > 0, "an interval without images or time cannot be judged");
  const double prepared = static_cast<double>(done.images_prepared);
  const double preparing = seconds(done.preparing.work) - delays(done.preparing);
  InputVerdict verdict{
      .images_per_second = images / wall,
      .device_images_per_second = images / std::max(wall - seconds(interval.waited), 1e-3 * wall),
      .input_images_per_second = ratio(done.threads * prepared, preparing),
      .reading_busy = busy_share(done.reading),
      .preparing_busy = busy_share(done.preparing),
      .processors_used = seconds(done.reading.processor + done.preparing.processor) / wall,
      .waited = std::min(seconds(interval.waited) / wall, 1.0)};
  verdict.processors_needed =
      ratio(seconds(done.preparing.processor), prepared) * verdict.device_images_per_second;
  verdict.bound = bound_of(verdict, done);
  return verdict;
}

std::string describe(const InputVerdict& verdict, const InputInterval& interval) {
  const std::string speed = count_of(verdict.images_per_second);
  const std::string gain =
      fmt::format("without it, the device would process {} ({:+.0f} %)",
                  count_of(verdict.device_images_per_second),
                  100 * (verdict.device_images_per_second / verdict.images_per_second - 1));
  switch (verdict.bound) {
    case InputBound::device:
      return fmt::format("no limit: the device processes {} images/sec, and {} can prepare {}",
                         count_of(verdict.device_images_per_second),
                         threads_text(interval.done.threads),
                         count_of(verdict.input_images_per_second));
    case InputBound::parse:
    case InputBound::decode:
    case InputBound::resize:
      return fmt::format("{} ({} of the work of {}) limits this run to {} images/sec; {}; {}",
                         work_of(verdict.bound), percent(share_of(verdict.bound, interval.done)),
                         threads_text(interval.done.threads), speed, gain,
                         remedy(verdict, interval));
    case InputBound::reading:
      return fmt::format(
          "the reading thread is busy {} of the time and limits this run to {} images/sec; {}",
          percent(verdict.reading_busy), speed, gain);
    case InputBound::storage:
      return fmt::format(
          "the storage delivers {:.0f} MB/s and limits this run to {} images/sec; {}",
          static_cast<double>(interval.done.record_bytes) / 1e6 / seconds(interval.wall), speed,
          gain);
    case InputBound::processors:
      return fmt::format(
          "input and device compete for {} processors, which limits this run to {} images/sec; "
          "the input used {:.1f} of them",
          interval.processors, speed, verdict.processors_used);
    case InputBound::unclear:
      break;
  }
  return fmt::format(
      "inconclusive: the device waited {} of the time, but the reading thread was busy only {} and "
      "the preparing threads {}; measure more steps",
      percent(verdict.waited), percent(verdict.reading_busy), percent(verdict.preparing_busy));
}

}  // namespace bench
