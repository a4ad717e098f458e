#include "bench/after/device_times.h"

#include <algorithm>
#include <numeric>
#include <ostream>
#include <string>

#include "bench/host/decimal.h"
#include "models/base/errors.h"
#include "results/statistics.h"

namespace bench {
namespace {

using std::chrono::nanoseconds;

double in_seconds(nanoseconds time) { return std::chrono::duration<double>(time).count(); }

nanoseconds total_of(const std::vector<nanoseconds>& times) {
  return std::accumulate(times.begin(), times.end(), nanoseconds(0));
}

double median_milliseconds(const std::vector<nanoseconds>& times) {
  constexpr double kMilli = 1e-3;
  return results::step_time_statistics(times).median / kMilli;
}

std::string share_text(double share) {
  constexpr double kPerCent = 100;
  return cat(decimal(kPerCent * share, 1), " %");
}

/// Of all measured steps, in seconds.
struct BothClocks {
  double host = 0;
  double device = 0;
  /// Of the host's, at most what lies beside the device's: the wait is behind it where batches are
  /// brought ahead.
  double input = 0;
};

BothClocks clocks_of(const SessionResult& session) {
  BothClocks clocks{.host = in_seconds(total_of(session.steps)),
                    .device = in_seconds(total_of(session.device_steps))};
  clocks.input = std::clamp(clocks.host - clocks.device, 0.0, in_seconds(session.input_wait));
  return clocks;
}

}  // namespace

void judge_device_times(const SessionResult& session, results::Quality& quality) {
  constexpr double kToleratedClocks = 0.01;
  constexpr double kToleratedIdle = 0.1;
  if (session.device_steps.empty()) {
    return;
  }
  const BothClocks clocks = clocks_of(session);
  if (clocks.device > (1 + kToleratedClocks) * clocks.host) {
    quality.reasons.push_back(cat("the steps took the device ", decimal(clocks.device, 3),
                                  " s by its own clock and ", decimal(clocks.host, 3),
                                  " s by the host's, which cannot be: one of them is wrong"));
    return;
  }
  const double idle = (clocks.host - clocks.device - clocks.input) / clocks.host;
  if (idle > kToleratedIdle) {
    quality.warnings.push_back(
        cat("the device waits for the host in ", share_text(idle),
            " of the step time, beside the input: it has its work enqueued too late; take a larger "
            "batch, see that steps are replayed (--cuda_graph), and leave the host alone"));
  }
}

void print_device_times(const SessionResult& session, std::ostream& out) {
  if (session.device_steps.empty()) {
    return;
  }
  const BothClocks clocks = clocks_of(session);
  out << "device: at work in " << share_text(clocks.device / clocks.host)
      << " of the step time by its own clock; a median step takes it "
      << decimal(median_milliseconds(session.device_steps), 3) << " of "
      << decimal(median_milliseconds(session.steps), 3) << " ms\n";
}

}  // namespace bench
