#include "bench/runs/diagnose_input.h"

#include <algorithm>
#include <ostream>
#include <string_view>

#include "bench/loop/replayed_input.h"
#include "bench/plan/memory_check.h"
#include "bench/plan/staging_allocator.h"
#include "bench/terminal/null_buffer.h"
#include "models/base/errors.h"
#include "pipeline/datasets/dataset.h"
#include "pipeline/input_diagnosis.h"
#include "pipeline/storage_speed.h"

namespace bench {
namespace {

using std::chrono::nanoseconds;

nanoseconds phase_length(const RunSettings& settings) {
  return std::chrono::duration_cast<nanoseconds>(
      std::chrono::duration<double>(*settings.outputs.diagnose_input));
}

void stop_if_asked(const RunHost& host) {
  if (host.end_asked()) {
    throw RunEnded("during the diagnosis of the input");
  }
}

/// The steps of the devices with this input, in images per second.
double device_speed(const RunSettings& settings, Towers& towers, InputSource& input,
                    RunHost& host) {
  // The time also limits the warm-up, to a quarter.
  StoppingRule stopping(
      {.warmup_steps = 2, .steps = std::int64_t{1} << 40, .time = phase_length(settings)},
      host.clock, [&] { return host.end_asked(); });
  NullBuffer nowhere;
  std::ostream silent(&nowhere);
  SessionResult session;
  run_session(settings,
              {.towers = towers,
               .input = input,
               .clock = host.clock,
               .stopping = stopping,
               .out = silent,
               .progress = silent},
              session);
  stop_if_asked(host);
  return session.speed(settings.workload);
}

/// The input's batches; waiting for them ends if the run is to end.
class InterruptibleInput final : public InputSource {
 public:
  InterruptibleInput(InputSource& source, const RunHost& host) : source_(source), host_(host) {}

  InputBatch next() override {
    release();  // The input needs every slot.
    while (!source_.ready_within(std::chrono::milliseconds(100))) {
      stop_if_asked(host_);
    }
    stop_if_asked(host_);
    return source_.next();
  }
  void release() override { source_.release(); }
  [[nodiscard]] InputStatistics statistics() const override { return source_.statistics(); }

 private:
  InputSource& source_;
  const RunHost& host_;
};

/// What the input does without a device.
InputInterval input_alone(const RunSettings& settings, InputSource& input, const RunHost& host) {
  // The batches that are ready took no time.
  for (int i = 0; i < settings.workload.input.dataset->prefetch_batches; ++i) {
    input.next();
  }
  const InputStatistics before = input.statistics();
  const nanoseconds begin = host.clock.now();
  const nanoseconds end = begin + phase_length(settings);
  InputInterval interval{.done = {},
                         .images = 0,
                         .processors = processors_within_quota(host),
                         .crops_first = settings.workload.input.dataset->fuse_decode_and_crop};
  do {
    input.next();
    interval.images += settings.workload.process_batch();
  } while (host.clock.now() < end);
  interval.wall = host.clock.now() - begin;
  interval.waited = interval.wall;
  interval.done = input.statistics().since(before);
  return interval;
}

void print_speed(std::ostream& out, std::string_view what, double images_per_second) {
  out << fmt::format("{:<44}{:>12.{}f}\n", what, images_per_second,
                     images_per_second < 100 ? 1 : 0);
}

/// Measures direct reads of the run's files.
void print_storage(const RunSettings& settings, const InputInterval& input, RunHost& host) {
  std::ostream& out = host.streams.out;
  auto reads =
      direct_reads(data_files(*settings.workload.dataset, *settings.workload.input.dataset));
  if (!reads) {
    out << "storage: not measured, because its file system does not support direct reads\n";
    return;
  }
  reads->stopped = [&host] { return host.end_asked(); };
  constexpr int kConcurrent = 8;
  constexpr double kMega = 1e6;
  const double one = read_speed(*reads, 1, phase_length(settings) / 2);
  const double several = read_speed(*reads, kConcurrent, phase_length(settings) / 2, 0.5);
  stop_if_asked(host);
  const double image = static_cast<double>(input.done.record_bytes) /
                       static_cast<double>(std::max<std::int64_t>(input.done.images_prepared, 1));
  const StorageClass& like = storage_class(one);
  out << fmt::format(
      "storage: {:.0f} MB/s with 1 read at a time, {:.0f} with {}; {:.0f} MB/s are enough for "
      "{:.0f} "
      "images/sec; the speed is closest to {} ({:.0f} MB/s)\n",
      one / kMega, several / kMega, kConcurrent, one / kMega, one / image, like.name,
      like.megabytes_per_second);
}

}  // namespace

void diagnose_input(const RunSettings& settings, Prepared& prepared, RunHost& host) {
  std::ostream& out = host.streams.out;
  Backend& backend = *prepared.devices.front().backend;
  out << fmt::format(
             "{:<44}{:>12}\n",
             fmt::format("diagnosis of the input, {:g} s each", *settings.outputs.diagnose_input),
             "images/sec")
      << std::flush;
  InterruptibleInput input(*prepared.input, host);
  DiagnosedSpeeds speeds;
  const InputInterval alone = input_alone(settings, input, host);
  const InputVerdict verdict = judge_input(alone);
  speeds.input = verdict.images_per_second;
  print_speed(out, "input alone", speeds.input);
  speeds.both = device_speed(settings, *prepared.towers, *prepared.input, host);
  print_speed(out, "input and device", speeds.both);
  if (settings.execution.device == RunDevice::cpu && speeds.input > 0) {
    speeds.share_of_input = verdict.processors_used * speeds.both / speeds.input / alone.processors;
  }
  ReplayedInput replayed(input, settings.workload.input.dataset->prefetch_batches,
                         settings.workload.process_batch(), slot_image_bytes(settings),
                         make_staging_allocator(backend));
  speeds.with_copies = device_speed(settings, *prepared.towers, replayed, host);
  print_speed(out, "device, batches from memory", speeds.with_copies);
  speeds.device = speeds.with_copies;
  if (!backend.shares_host_memory()) {
    replayed.repeat_first();
    speeds.device = device_speed(settings, *prepared.towers, replayed, host);
    print_speed(out, "device, one batch without copies", speeds.device);
  }
  print_storage(settings, alone, host);
  out << "diagnosis: " << describe(speeds, verdict, alone) << "\n" << std::flush;
}

}  // namespace bench
