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
  return fmt::format("{:.1f} %", kPerCent * share);
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

void judge_device_times(const SessionResult& session, bool could_send_pixels,
                        results::Quality& quality) {
  constexpr double kToleratedClocks = 0.01;
  constexpr double kToleratedBetween = 0.1;
  if (session.device_steps.empty()) {
    return;
  }
  const BothClocks clocks = clocks_of(session);
  if (clocks.device > (1 + kToleratedClocks) * clocks.host) {
    quality.reasons.push_back(
        fmt::format("the steps took {:.3f} s by the device's clock, but only {:.3f} s by the "
                    "host's: one of the clocks is wrong",
                    clocks.device, clocks.host));
    return;
  }
  const double between = (clocks.host - clocks.device - clocks.input) / clocks.host;
  if (between > kToleratedBetween) {
    const std::string waits = fmt::format(
        "the device waits between steps for {} of the step time, in addition to the wait for "
        "input.",
        share_text(between));
    const std::string why =
        session.replayed
            ? "The next batch arrives late, or the host enqueues the next step late."
            : "The next batch arrives late, or the host needs much time between steps.";
    quality.warnings.push_back(
        fmt::format("{} {} Use a larger batch and stop other programs on the host.{}", waits, why,
                    could_send_pixels ? " Pass images as uint8 (--input_transfer=uint8)." : ""));
  }
}

void print_device_times(const SessionResult& session, std::ostream& out) {
  if (session.device_steps.empty()) {
    return;
  }
  const BothClocks clocks = clocks_of(session);
  out << stderr_line::device
      << fmt::format(
             "steps take {} of the step time by the device's clock, gaps included; the median step "
             "takes {:.3f} of {:.3f} ms",
             share_text(clocks.device / clocks.host), median_milliseconds(session.device_steps),
             median_milliseconds(session.steps));
  if (!session.replayed) {
    out << "; this includes waits for the host, because steps are enqueued part by part";
  }
  out << "\n";
}

}  // namespace bench
