#include "bench/runs/repeats.h"

#include <poll.h>

#include <ostream>

#include "bench/runs/child_runs.h"
#include "bench/runs/own_files.h"
#include "bench/terminal/stderr_lines.h"
#include "bench/terminal/text_table.h"
#include "models/base/errors.h"
#include "results/stats/group_summary.h"
#include "results/stats/sequential.h"
#include "results/store/disturbance.h"

namespace bench {
namespace {

constexpr double kPerCent = 100;
constexpr std::chrono::milliseconds kLook{20};

std::string decimals_of(double value, int digits) { return fmt::format("{:.{}f}", value, digits); }

std::vector<double> speeds_of(std::span<const RepeatOutcome> runs) {
  std::vector<double> speeds;
  for (const RepeatOutcome& run : runs) speeds.push_back(run.speed);
  return speeds;
}

/// True if the runs may end here. They may end only at fixed looks, because checking after every
/// run would find a narrow interval by chance.
bool narrow_enough(const RepeatSettings& settings, std::span<const double> values) {
  if (!settings.until_ci || results::stats::last_look(values.size()) != values.size()) {
    return false;
  }
  const std::optional<double> half = results::stats::look_half_width(values);
  return half && *half <= *settings.until_ci;
}

std::string per_cent(double share) { return fmt::format("{:.2f} %", kPerCent * share); }

/// Explains why all runs were made, though --until_ci may end them earlier.
void say_why_not_ended(std::ostream& err, double limit, std::span<const double> values) {
  const std::optional<std::size_t> look = results::stats::last_look(values.size());
  if (!look) {
    err << stderr_line::until_ci
        << fmt::format("{} runs are too few, because the first check is after {}\n", values.size(),
                       results::stats::kLooks.front());
    return;
  }
  const std::optional<double> half = results::stats::look_half_width(values.first(*look));
  const std::string runs = *look == values.size() ? fmt::format("all {} runs", *look)
                                                  : fmt::format("the first {} runs", *look);
  err << stderr_line::until_ci
      << (half ? fmt::format(
                     "after {}, the interval's half-width is {} of the median; the target is {}",
                     runs, per_cent(*half), per_cent(limit))
               : fmt::format("after {}, the interval is unknown", runs));
  if (*look != values.size()) {
    err << fmt::format("; bench does not check after {} runs", values.size());
  }
  err << "\n";
}

/// Prints the table of the runs, their median and its interval. If `repeat` looked at the interval
/// between runs, the interval is that of a look.
void print_repeats(std::ostream& out, std::span<const RepeatOutcome> runs, bool looked) {
  if (runs.empty()) {
    return;
  }
  TextTable table({{.title = "run", .right = true},
                   {.title = runs.front().unit, .right = true},
                   {.title = ""}});
  for (std::size_t i = 0; i < runs.size(); ++i) {
    table.add_row({fmt::format("{}", i + 1), decimals_of(runs[i].speed, 2),
                   runs[i].disturbed ? "disturbed" : ""});
  }
  const std::vector<double> speeds = speeds_of(runs);
  const results::stats::GroupSummary summary =
      looked ? results::stats::group_summary(speeds, results::stats::kLookAlpha)
             : results::stats::group_summary(speeds);
  const std::string level =
      looked ? fmt::format("{:g}", kPerCent * (1 - results::stats::kLookAlpha)) : "95";
  out << table << "median of " << summary.n << " runs: " << decimals_of(summary.median, 2) << " "
      << runs.front().unit;
  if (summary.interval) {
    out << ", " << level << " % interval " << decimals_of(summary.interval->low, 2) << " to "
        << decimals_of(summary.interval->high, 2);
    if (looked) out << " (used at each check of --until_ci, so that all checks together give 95 %)";
  } else {
    out << ", from " << decimals_of(summary.min, 2) << " to " << decimals_of(summary.max, 2)
        << " (a " << level << " % interval needs " << (looked ? results::stats::kLooks.front() : 6)
        << " runs)";
  }
  out << "\n" << std::flush;
}

}  // namespace

RunSettings settings_of_repeat(RunSettings settings) {
  const std::optional<int> repeat = settings.outputs.record.own_repeat;
  return repeat ? with_own_files(std::move(settings), fmt::format("repeat{}", *repeat)) : settings;
}

int repeat(const RepeatSettings& settings, const std::function<RepeatOutcome(int repeat)>& run,
           const std::function<void()>& wait, const std::function<bool()>& interrupted,
           const RunStreams& streams) {
  std::vector<RepeatOutcome> completed;
  int status = 0;
  for (int i = 0; i < settings.runs && !interrupted(); ++i) {
    if (i > 0) wait();
    if (interrupted()) break;
    streams.err << stderr_line::repeat << i + 1 << " of " << (settings.until_ci ? "at most " : "")
                << settings.runs << "\n"
                << std::flush;
    const RepeatOutcome outcome = run(i);
    status = outcome.status;
    if (status != 0) break;
    completed.push_back(outcome);
    if (narrow_enough(settings, speeds_of(completed))) break;
  }
  print_repeats(streams.out, completed, settings.until_ci.has_value());
  const std::vector<double> speeds = speeds_of(completed);
  if (settings.until_ci && status == 0 && !interrupted() && !narrow_enough(settings, speeds)) {
    say_why_not_ended(streams.err, *settings.until_ci, speeds);
  }
  return status;
}

int run_repeats(const RunSettings& settings, RunHost& host) {
  const RepeatSettings& repeats = settings.outputs.record.repeats;
  ChildRuns children(host);
  std::vector<std::string> batch;
  const auto run = [&](int index) {
    const ChildOutcome child = children.run({.place = {.repeat = index, .order = index},
                                             .words = batch,
                                             .variables = {{kRepeatsVariable, "1"}}});
    RepeatOutcome outcome{.status = child.status};
    if (child.record) {
      if (!settings.workload.batch_request.fixed()) {
        const auto chosen =
            child.record->record.at("workload").at("batch_per_device").get<std::int64_t>();
        batch = {fmt::format("--batch_size={}", chosen)};
        if (settings.workload.evaluation()) {
          batch.push_back(fmt::format("--eval_batch_size={}", chosen));
        }
      }
      outcome.speed = child.record->metrics.at(results::speed_metric(*child.record)).value;
      outcome.unit = speed_title(*child.record);
      outcome.disturbed = !results::disturbances_of(child.record->record).empty();
    }
    return outcome;
  };
  const auto wait = [&] {
    const auto end =
        host.clock.now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                               std::chrono::duration<double>(repeats.cooldown_seconds));
    while (host.clock.now() < end && !host.interrupt.requested()) {
      (void)::poll(nullptr, 0, static_cast<int>(kLook.count()));
    }
  };
  const int status = repeat(
      repeats, run, wait, [&] { return host.interrupt.requested(); }, host.streams);
  host.streams.err << stderr_line::group << children.group() << "\n";
  return host.interrupt.requested() ? host.interrupt.exit_status() : status;
}

}  // namespace bench
