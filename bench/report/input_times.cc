#include "bench/report/input_times.h"

#include <algorithm>
#include <ostream>
#include <string_view>

#include "bench/plan/input_settings.h"
#include "bench/plan/memory_check.h"
#include "bench/report/device_times.h"
#include "bench/terminal/stderr_lines.h"
#include "models/base/errors.h"

namespace bench {

std::optional<InputInterval> input_interval(const RunSettings& settings,
                                            const SessionResult& session) {
  if (!settings.workload.input.dataset || session.own_steps == 0 || session.wall.count() <= 0) {
    return std::nullopt;
  }
  const DatasetOptions& dataset = *settings.workload.input.dataset;
  const std::int64_t images = session.own_steps * settings.workload.process_batch();
  return InputInterval{
      .done = session.input,
      .images = images,
      .unit = fmt::format("{}s", settings.workload.model->example()),
      .wall = session.wall,
      .waited = held_up_by_input(session),
      .computed = session.computed,
      .copied = session.transfers,
      .copied_bytes = static_cast<std::uint64_t>(images) * slot_image_bytes(settings),
      .sends_floats = could_send_pixels(settings),
      .processors = session.processors,
      .shares_processors = settings.execution.device == RunDevice::cpu,
      .device_threads = session.device_threads,
      .throttled = session.throttled,
      .crops_first = dataset.fuse_decode_and_crop};
}

bool could_send_pixels(const RunSettings& settings) {
  return settings.execution.slots == SlotType::f32 && can_send_pixels(settings.workload);
}

void print_input_bound(const RunSettings& settings, const SessionResult& session,
                       std::ostream& err) {
  if (const auto interval = input_interval(settings, session)) {
    err << stderr_line::input << (settings.workload.processes > 1 ? "of rank 0: " : "")
        << describe(judge_input(*interval), *interval);
    if (const double seekable = interval->done.seekable_share(); seekable > 0) {
      err << fmt::format("; {:.0f} % of the images are seekable JPEGs", 100 * seekable);
    }
    err << "\n";
  }
}

void warn_of_bad_records(const BadRecordCounts& counts, std::ostream& err) {
  if (counts.total() > 0) {
    err << stderr_line::warning << "skipped " << describe(counts) << "\n";
  }
}

void print_input_times(const RunSettings& settings, const SessionResult& session,
                       std::ostream& out) {
  const auto interval = input_interval(settings, session);
  // Text has no preparing threads, and nothing is timed.
  if (!interval || interval->done.threads == 0) {
    return;
  }
  const InputStatistics& done = interval->done;
  const InputVerdict verdict = judge_input(*interval);
  const auto row = [&](std::string_view name, std::chrono::nanoseconds processor,
                       std::optional<double> busy) {
    const double each = std::chrono::duration<double, std::micro>(processor).count() /
                        static_cast<double>(std::max<std::int64_t>(done.images_prepared, 1));
    out << fmt::format("{:<28}{:>12.1f}{:>10}\n", name, each,
                       busy ? fmt::format("{:.0f} %", 100 * *busy) : "");
  };
  out << fmt::format("{:<28}{:>12}{:>10}\n", "input",
                     fmt::format("us/{}", settings.workload.model->example()), "busy");
  const auto with_threads = [](std::string_view work, int threads) {
    return fmt::format("{} ({} thread{})", work, threads, threads == 1 ? "" : "s");
  };
  row(with_threads("read", done.readers), done.reading.processor + done.readers_work.processor,
      verdict.reading_busy);
  row(with_threads("prepare", done.threads), done.preparing.processor, verdict.preparing_busy);
  row("  parse", done.parse_busy, {});
  row("  decode", done.decode_busy, {});
  row("  resize", done.resize_busy, {});
  if (done.storage_bytes && done.record_bytes > 0) {
    out << fmt::format("{:<28}{:>22}\n", "read from storage",
                       fmt::format("{:.0f} %", 100 * static_cast<double>(*done.storage_bytes) /
                                                   static_cast<double>(done.record_bytes)));
  }
}

}  // namespace bench
