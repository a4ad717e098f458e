#include "results/record/quality_score.h"

#include <algorithm>

#include "models/base/errors.h"

namespace bench::results {
namespace {

constexpr double kPerCent = 100;
constexpr double kFewSteps = 30;

/// The value of a metric, if it is known.
Captured<double> metric_of(const Record& record, const std::string& name) {
  for (const Metric& metric : record.metrics) {
    if (metric.name != name) continue;
    if (!metric.value.known()) return Unknown{metric.value.why()};
    return std::visit([](auto value) { return static_cast<double>(value); }, metric.value.value());
  }
  return Unknown{"no such metric"};
}

StepStatistics step_times(const Record& record) {
  return {.steps = metric_of(record, "step_time.n").value_or(0),
          .mean = metric_of(record, "step_time.mean").value_or(0),
          .median = metric_of(record, "step_time.median").value_or(0),
          .longest = metric_of(record, "step_time.max").value_or(0)};
}

std::string longest_text(const StepStatistics& times) {
  return fmt::format("one step took {:.0f} times the median", times.longest / times.median);
}

/// True if a known value is above `limit`.
bool above(const Captured<double>& value, double limit) {
  return value.known() && value.value() > limit;
}

class Score {
 public:
  /// Deducts `points`, for the reason `why`.
  void take(int points, std::string_view why) {
    score_ -= points;
    deductions_.push_back(fmt::format("{} points: {}", points, why));
  }
  void put(Quality& quality) const {
    quality.score = static_cast<double>(std::max(0, score_));
    quality.deductions = deductions_;
  }

 private:
  int score_ = 100;
  std::vector<std::string> deductions_{};
};

void judge_neighbours(const Record& record, Score& score) {
  if (const double busy = busy_processors(record); busy > kToleratedProcessors) {
    score.take(20, fmt::format("other programs used {:.1f} processors", busy));
  }
  if (above(record.load.steal_share, kToleratedSteal)) {
    score.take(20, fmt::format("the hypervisor took {:.1f} % of the processor time",
                               kPerCent * record.load.steal_share.value()));
  }
  if (record.load.throttling.periods.value_or(0) > 0) {
    score.take(15, fmt::format("the cgroup throttled the run in {} periods",
                               record.load.throttling.periods.value()));
  }
}

void judge_machine(const Record& record, Score& score) {
  if (record.cpu.governor.known() && record.cpu.governor.value() != "performance") {
    score.take(10, fmt::format("the clock governor is '{}', not 'performance'",
                               record.cpu.governor.value()));
  }
  if (above(record.memory.swap_used.known()
                ? Captured<double>(static_cast<double>(record.memory.swap_used.value()))
                : Captured<double>(Unknown{record.memory.swap_used.why()}),
            0)) {
    score.take(5, "swap was in use before the run");
  }
  if (record.quality.verdict.known() && record.quality.verdict.value() == Verdict::kInvalid) {
    score.take(40, "the GPU's verdict is INVALID");
  }
}

void judge_build(const Record& record, Score& score) {
  if (record.source.dirty.value_or(false)) {
    score.take(10, "bench was built from uncommitted changes, which others cannot reproduce");
  }
  if (!record.build.sanitizer.empty() || record.build.build_type == "Debug") {
    score.take(40, "bench is a debug build or has a sanitizer");
  }
}

void judge_steps(const Record& record, Score& score) {
  constexpr double kUnsteady = 0.05;
  const Captured<double> steps = metric_of(record, "step_time.n");
  if (steps.known() && steps.value() < kFewSteps) {
    score.take(10,
               fmt::format("too few timed steps: {:g}, fewer than {:g}", steps.value(), kFewSteps));
  }
  if (const Captured<double> cv = metric_of(record, "step_time.cv"); above(cv, kUnsteady)) {
    score.take(10, fmt::format("step times vary by {:.1f} %", kPerCent * cv.value()));
  }
  if (const StepStatistics times = step_times(record); times.one_stood_still()) {
    score.take(20, longest_text(times));
  }
}

void judge_drift(const Record& record, Score& score) {
  // The clock or the temperature changed during the run.
  constexpr double kFalling = 0.97;
  constexpr std::size_t kFewest = 4;
  const std::vector<double> mhz = record.cpu_watched.mhz.value_or({});
  if (mhz.size() < kFewest) return;
  const auto [least, most] = std::minmax_element(mhz.begin(), mhz.end());
  if (*least < kFalling * *most) {
    score.take(10, fmt::format("the clock varied from {:g} to {:g} MHz", *least, *most));
  }
}

}  // namespace

double busy_processors(const Record& record) {
  double busy = 0;
  for (const BusyProcess& process : record.load.busy.value_or({})) busy += process.processors;
  const auto used = static_cast<double>(record.cpu.processors_used.value_or({}).size());
  const double lacking = record.load.lacking_processors.value_or(0);
  return lacking > kToleratedShare * used ? std::max(busy, lacking) : busy;
}

bool StepStatistics::one_stood_still() const {
  constexpr double kMany = 10;
  constexpr double kSome = 3;
  constexpr double kLongSeconds = 2;
  constexpr double kShare = 0.01;
  const bool odd =
      longest > kMany * median || (longest > kSome * median && longest > median + kLongSeconds);
  return median > 0 && odd && longest > kShare * steps * mean;
}

std::vector<std::string> step_warnings(const Record& record) {
  std::vector<std::string> warnings;
  const StepStatistics times = step_times(record);
  if (times.steps > 0 && times.steps < kFewSteps) {
    const std::string measured = times.steps == 1
                                     ? "only 1 step was measured"
                                     : fmt::format("only {:g} steps were measured", times.steps);
    warnings.push_back(
        fmt::format("{}, so the speed is imprecise; measure at least {:g} (--num_batches, or a "
                    "longer --max_seconds)",
                    measured, kFewSteps));
  }
  if (times.one_stood_still()) {
    warnings.push_back(fmt::format("{}; was the process suspended?", longest_text(times)));
  }
  return warnings;
}

void add_quality_score(Record& record) {
  Score score;
  judge_neighbours(record, score);
  judge_machine(record, score);
  judge_build(record, score);
  judge_steps(record, score);
  judge_drift(record, score);
  if (record.status != Status::kOk) {
    score.take(100, "the run did not finish successfully");
  }
  score.put(record.quality);
}

}  // namespace bench::results
