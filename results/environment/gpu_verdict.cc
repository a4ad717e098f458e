#include "results/environment/gpu_verdict.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/errors.h"
#include "results/environment/decimal.h"
#include "results/environment/in_one_line.h"

namespace bench {
namespace {

namespace clock_event = results::clock_event;
using std::chrono::nanoseconds;

constexpr double kToleratedShare = 0.01;
constexpr double kToleratedAtPowerLimit = 0.05;
constexpr double kLeastClock = 0.75;
/// For the same power measured in two ways.
constexpr double kToleratedDisagreement = 0.1;
constexpr double kMostlyIdle = 0.5;

std::string per_cent(double share) {
  constexpr double kPerCent = 100;
  return fmt::format("{:.1f} %", kPerCent * share);
}

/// The findings about one card.
struct Findings {
  std::vector<std::string> reasons;
  std::vector<std::string> warnings;
  /// The reasons why there can be no verdict.
  std::vector<std::string> undecided;
  /// The values that could not be read from the card.
  std::vector<std::string> unread;
};

/// Judges one card.
class Judge {
 public:
  Judge(const results::Gpu& gpu, const results::GpuWatched& watched)
      : gpu_(gpu), watched_(watched) {}

  Findings judge() {
    if (!watched_.clock_events.known() && !watched_.sm_mhz.known()) {
      found_.undecided.push_back(
          fmt::format("the card's clocks are unknown: {}", watched_.clock_events.why()));
    }
    if (read(watched_.clock_events, "the reasons for reduced clocks")) {
      look_at_heat(watched_.clock_events.value());
      look_at_power(watched_.clock_events.value());
      look_at_idleness(watched_.clock_events.value());
    }
    if (read(watched_.sm_mhz, "the SM clock") && read(gpu_.clocks_max.sm, "the highest SM clock")) {
      look_at_clock();
    }
    if (read(watched_.others_count, "other processes on the card")) {
      look_at_others();
    }
    look_at_errors();
    look_at_sensors();
    if (gpu_.mig.value_or(false)) {
      found_.warnings.emplace_back(
          "the card is partitioned (MIG): its sensors and the reasons for reduced clocks are those "
          "of all partitions together");
    }
    return std::move(found_);
  }

 private:
  template <class Value>
  bool read(const Captured<Value>& value, std::string_view what) {
    if (!value.known()) {
      found_.unread.push_back(fmt::format("{} ({})", what, value.why()));
    }
    return value.known();
  }

  /// The fraction of the window in which the card counted a violation; 0 if it does not count them.
  [[nodiscard]] double share(const Captured<nanoseconds>& violation) const {
    return watched_.window.count() > 0 ? static_cast<double>(violation.value_or({}).count()) /
                                             static_cast<double>(watched_.window.count())
                                       : 0;
  }

  void look_at_heat(const results::ClockEvents& events) {
    constexpr std::uint64_t kHeat = clock_event::kSoftwareThermal | clock_event::kHardwareThermal;
    const double heat = std::max(events.share(kHeat), share(watched_.thermal_violation));
    std::string sentence = fmt::format(
        "heat reduced the clocks for {} of the time: cool the card, or let it cool before a run",
        per_cent(heat));
    if (heat > kToleratedShare) {
      found_.reasons.push_back(std::move(sentence));
    } else if (heat > 0) {
      found_.warnings.push_back(std::move(sentence));
    }
    const double unexplained =
        events.share(clock_event::kHardwareSlowdown, kHeat | clock_event::kPowerBrake);
    if (unexplained > kToleratedShare) {
      found_.reasons.push_back(fmt::format(
          "the card gave no reason for slowing down in {} of the samples: check its power "
          "supply, its cooling and the kernel's log",
          per_cent(unexplained)));
    }
  }

  void look_at_power(const results::ClockEvents& events) {
    const double brake = events.share(clock_event::kPowerBrake);
    if (brake > kToleratedShare) {
      found_.reasons.push_back(fmt::format(
          "an external signal (power brake) reduced the clocks in {} of the samples: check the "
          "machine's power supply",
          per_cent(brake)));
    }
    at_limit_ = std::max(events.share(clock_event::kPowerCap), share(watched_.power_violation));
    if (at_limit_ <= kToleratedAtPowerLimit) {
      return;
    }
    const auto& limit = gpu_.power_limit_watts;
    const auto& own = gpu_.power_limit_default_watts;
    if (!limit.known() || !own.known()) {
      found_.undecided.push_back(
          fmt::format("the power limit reduced the clocks for {} of the time, but it is unknown "
                      "whether this is the card's default limit",
                      per_cent(at_limit_)));
    } else if (limit.value() < own.value()) {
      found_.reasons.push_back(
          fmt::format("the power limit of {:.0f} W reduced the clocks for {} of the time: it is "
                      "below the card's default of {:.0f} W; as root: nvidia-smi -pl {:.0f}",
                      limit.value(), per_cent(at_limit_), own.value(), own.value()));
    } else {
      found_.warnings.push_back(fmt::format(
          "the power limit of {:.0f} W reduced the clocks for {} of the time: the "
          "card's speed then depends on its temperature and on the values it computes with",
          limit.value(), per_cent(at_limit_)));
    }
  }

  void look_at_idleness(const results::ClockEvents& events) {
    const double idle = events.share(clock_event::kIdle);
    if (idle > kMostlyIdle) {
      found_.warnings.push_back(fmt::format(
          "the card was idle in {} of the samples, because it waited for the host: use a larger "
          "batch, or see the line 'waiting for input'",
          per_cent(idle)));
    }
  }

  void look_at_clock() {
    const double highest = gpu_.clocks_max.sm.value();
    const double mean = watched_.sm_mhz.value().mean;
    if (mean >= kLeastClock * highest || at_limit_ > kToleratedAtPowerLimit) {
      return;
    }
    const std::string clock =
        fmt::format("the mean SM clock was {:.0f} MHz, {} of the card's maximum of {:.0f} MHz",
                    mean, per_cent(mean / highest), highest);
    if (!watched_.clock_events.known()) {
      found_.undecided.push_back(
          fmt::format("{}, and it is unknown whether the card's power limit reduced it: {}", clock,
                      watched_.clock_events.why()));
      return;
    }
    if ((watched_.clock_events.value().seen() & clock_event::kApplicationClocks) != 0) {
      found_.reasons.push_back(fmt::format(
          "{}: a lower clock is set; as root: nvidia-smi -rac and nvidia-smi -rgc", clock));
    } else {
      found_.reasons.push_back(
          fmt::format("{}: check whether the clocks are locked; as root: nvidia-smi -rgc", clock));
    }
  }

  void look_at_others() {
    // The processes that were seen at any time; they may have run one after another.
    const std::vector<results::GpuProcess> others = watched_.others.value_or({});
    if (others.empty()) {
      if (const std::int64_t count = watched_.others_count.value(); count > 0) {
        found_.reasons.push_back(
            fmt::format("other processes were on the card: {}, with ids of another PID namespace; "
                        "run nvidia-smi on the host, and stop them",
                        count));
      }
      return;
    }
    std::string ids;
    for (const results::GpuProcess& process : others) {
      ids += fmt::format("{}{}", ids.empty() ? "" : ", ", process.pid);
    }
    found_.reasons.push_back(fmt::format("other processes were on the card: {}; stop them", ids));
  }

  void look_at_errors() {
    // A card without error correction counts no errors.
    if (gpu_.ecc.value_or(false)) {
      read(watched_.ecc_uncorrected, "the card's memory errors");
    }
    if (const auto wrong = watched_.ecc_uncorrected.value_or(0); wrong > 0) {
      found_.reasons.push_back(fmt::format(
          "the card's memory had {} errors that ECC cannot correct: the card needs service",
          wrong));
    }
    if (const auto corrected = watched_.ecc_corrected.value_or(0); corrected > 0) {
      found_.warnings.push_back(fmt::format(
          "the card's memory had {} errors that ECC corrected: see nvidia-smi -q -d ECC",
          corrected));
    }
  }

  /// Compares the energy counter with the power samples.
  void look_at_sensors() {
    const Captured<double> counted = counted_watts(watched_);
    if (!counted.known() || !watched_.watts.known()) {
      return;
    }
    const double sampled = watched_.watts.value().mean;
    if (std::abs(counted.value() - sampled) > kToleratedDisagreement * counted.value()) {
      found_.warnings.push_back(fmt::format(
          "the card's sensors disagree: its energy counter shows {:.1f} W and its power samples "
          "{:.1f} W; do not trust its energy or its power",
          counted.value(), sampled));
    }
  }

  const results::Gpu& gpu_;
  const results::GpuWatched& watched_;
  Findings found_;
  /// The fraction of time in which the power limit reduced the clocks.
  double at_limit_ = 0;
};

/// Adds each sentence, prefixed with the name of the card.
void append(std::vector<std::string>& to, const std::string& card,
            const std::vector<std::string>& sentences) {
  for (const std::string& sentence : sentences) {
    to.push_back(card + sentence);
  }
}

}  // namespace

void judge_gpus(std::span<const results::Gpu> gpus, results::Quality& quality) {
  std::vector<std::string> undecided;
  for (std::size_t number = 0; number < gpus.size(); ++number) {
    const results::Gpu& gpu = gpus[number];
    const std::string card = gpus.size() > 1 ? fmt::format("GPU {}: ", number) : "";
    if (!gpu.watched.known()) {
      undecided.push_back(card + gpu.watched.why());
      continue;
    }
    const Findings found = Judge(gpu, gpu.watched.value()).judge();
    append(quality.reasons, card, found.reasons);
    append(quality.warnings, card, found.warnings);
    append(quality.unread, card, found.unread);
    append(undecided, card, found.undecided);
  }
  if (!quality.reasons.empty()) {
    quality.verdict = results::Verdict::kInvalid;
  } else if (!undecided.empty()) {
    quality.verdict = Unknown{in_one_line(undecided)};
  } else if (!gpus.empty()) {
    quality.verdict = results::Verdict::kValid;
  }
}

}  // namespace bench
