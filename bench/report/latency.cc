#include "bench/report/latency.h"

#include <ostream>
#include <string>

#include "models/base/errors.h"
#include "results/record/statistics.h"

namespace bench {

void print_latency(const SessionResult& session, std::int64_t examples, std::string_view example,
                   std::ostream& out) {
  // With fewer, less than ten steps are slower than the p99.
  constexpr std::int64_t kSteady = 1000;
  if (session.steps.empty()) {
    return;
  }
  const results::StepTimeStatistics times = results::step_time_statistics(session.steps);
  const auto milliseconds = [](double seconds) { return fmt::format("{:.3f} ms", 1e3 * seconds); };
  out << fmt::format(
      "latency of {}: p50 {}, p90 {}, p99 {}, max {} ({} {}{})\n",
      examples == 1 ? fmt::format("1 {}", example) : fmt::format("{} {}s", examples, example),
      milliseconds(times.median), milliseconds(times.p90), milliseconds(times.p99),
      milliseconds(times.max), times.n, times.n == 1 ? "inference" : "inferences",
      times.n < kSteady ? ", too few for a reliable p99" : "");
}

}  // namespace bench
