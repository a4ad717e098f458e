#include "bench/report/device_times.h"

#include <algorithm>
#include <numeric>
#include <ostream>
#include <string>

#include "bench/terminal/stderr_lines.h"
#include "models/base/errors.h"
#include "results/environment/decimal.h"
#include "results/record/statistics.h"

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

/// The sums over all measured steps, in seconds.
struct BothClocks {
  double host = 0;
  double device = 0;
  double input = 0;
};

BothClocks clocks_of(const SessionResult& session) {
  return {.host = in_seconds(total_of(session.steps)),
          .device = in_seconds(total_of(session.device_steps)),
          .input = in_seconds(held_up_by_input(session))};
}

}  // namespace

nanoseconds held_up_by_input(const SessionResult& session) {
  if (session.device_steps.empty()) {
    return session.input_wait;
  }
  // The clocks differ, so the device's total may be slightly longer.
  const nanoseconds beside =
      std::max(total_of(session.steps) - total_of(session.device_steps), nanoseconds(0));
  return std::min(session.input_wait, beside);
}

double mean_step_without_input(const SessionResult& session) {
  return in_seconds(total_of(session.steps) - held_up_by_input(session)) /
         static_cast<double>(session.steps.size());
}

void judge_device_times(const SessionResult& session, results::Quality& quality) {
  constexpr double kToleratedClocks = 0.01;
  constexpr double kToleratedBetween = 0.1;
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
  const double between = (clocks.host - clocks.device - clocks.input) / clocks.host;
  if (between > kToleratedBetween) {
    quality.warnings.push_back(
        cat("the device is between two steps in ", share_text(between),
            " of the step time, beside the wait for input: the next batch takes longer to arrive "
            "there than a step, or the host ",
            session.replayed ? "enqueues the next step late" : "takes long between steps",
            "; take a larger batch, hand images over as uint8 (--input_transfer), and leave the "
            "host alone"));
  }
}

void print_device_times(const SessionResult& session, std::ostream& out) {
  if (session.device_steps.empty()) {
    return;
  }
  const BothClocks clocks = clocks_of(session);
  out << stderr_line::device << "from a step's beginning to its end on it, gaps included, "
      << share_text(clocks.device / clocks.host)
      << " of the step time by its own clock; a median step takes it "
      << decimal(median_milliseconds(session.device_steps), 3) << " of "
      << decimal(median_milliseconds(session.steps), 3) << " ms"
      << (session.replayed ? ""
                           : "; waits for the host within a step are in it, since steps are "
                             "enqueued part by part")
      << "\n";
}

}  // namespace bench
