#include "bench/runs/conclude.h"

#include <glog/logging.h>

#include <numeric>
#include <ostream>

#include "bench/loop/report.h"
#include "bench/plan/memory_check.h"
#include "bench/plan/network.h"
#include "bench/plan/verified_run.h"
#include "bench/report/device_times.h"
#include "bench/report/gpu_report.h"
#include "bench/report/input_times.h"
#include "bench/report/latency.h"
#include "bench/report/profile.h"
#include "bench/runs/diagnose_input.h"
#include "bench/terminal/stderr_lines.h"
#include "models/base/errors.h"
#include "models/base/text.h"
#include "results/record/roof.h"

namespace bench {
namespace {

using std::chrono::nanoseconds;

void print_closing_notes(const RunSettings& settings, const Measured& measured, std::ostream& err) {
  const SessionResult& session = measured.session;
  const InputStatistics& input = measured.input;
  if (session.skipped_updates > 0) {
    err << stderr_line::skipped_updates << session.skipped_updates
        << ", because gradients were not finite; each time bench halved the loss scale\n";
  }
  warn_of_bad_records(input.bad_records, err);
  if (session.steps.empty()) {
    return;
  }
  const nanoseconds steps =
      std::accumulate(session.steps.begin(), session.steps.end(), nanoseconds(0));
  constexpr double kPerCent = 100;
  const double share =
      static_cast<double>(held_up_by_input(session).count()) / static_cast<double>(steps.count());
  err << stderr_line::input_wait << fmt::format("{:.1f} % of the step time", kPerCent * share);
  if (input.threads > 0) {
    const char* const type = settings.execution.slots == SlotType::u8 ? "u8" : "f32";
    const std::size_t bytes = slot_image_bytes(settings);
    err << fmt::format(
        " ({} {}s of {} bytes in {})",
        input.threads == 1 ? "1 thread prepares" : fmt::format("{} threads prepare", input.threads),
        settings.workload.model->example(), bytes, type);
  }
  err << "\n";
  if (measured.attempt.succeeded()) {
    print_input_bound(settings, session, err);
  }
  print_device_times(session, err);
  // The steps of asynchronous workers are not this process's own.
  print_shares(
      err, session.shares,
      session.staleness && !session.shares.empty() ? session.shares.front().total() : steps);
  if (settings.workload.towers > 1 && session.shares.empty()) {
    err << stderr_line::note << "the time on each tower is unavailable: " << kNotTimedByPart
        << "\n";
  }
}

/// Why a successful run has fewer steps than requested; empty if it has all.
std::string early_end(const RunSettings& settings, const SessionResult& session) {
  const Execution& execution = settings.execution;
  if (session.stop == Stop::enough && settings.evaluation.stop_at_top_1) {
    return fmt::format("--stop_at_top_1_accuracy={:g} ended the run after {} of {} steps",
                       *settings.evaluation.stop_at_top_1, session.steps.size(),
                       execution.steps.num_batches);
  }
  if (session.stop != Stop::out_of_time) {
    return "";
  }
  // A dataset may have another number of examples than its name promises.
  const bool counted = !settings.workload.evaluation() || evaluated_passes(settings) == 0;
  return fmt::format("--max_seconds={:g} ended the run after {}{} steps", *execution.max_seconds,
                     session.steps.size(),
                     counted ? fmt::format(" of {}", execution.steps.num_batches) : "");
}

/// Adds the ceilings of the devices, measured on all at once: in a step they share the memory's
/// bandwidth, too. Virtual towers have equal shares of their card. The measurement needs memory
/// that no plan includes, so the profile may have to do without it.
void add_ceilings(Prepared& prepared, bool virtual_towers, DType type,
                  std::vector<Profile>& profiles) {
  try {
    prepared.towers->run([&](int number) {
      const auto place = static_cast<std::size_t>(number);
      if (number == 0 || !virtual_towers) {
        profiles[place].ceiling = prepared.devices[place].backend->measure_ceiling(type);
      }
    });
  } catch (const DeviceError& error) {
    LOG(WARNING) << "warning: --profile prints no ceiling: " << printable(error.what());
    for (Profile& profile : profiles) {
      profile.ceiling.reset();
    }
    return;
  }
  if (virtual_towers && profiles.front().ceiling) {
    Ceiling share = *profiles.front().ceiling;
    const auto towers = static_cast<double>(profiles.size());
    share.flops_per_second /= towers;
    share.product_flops_per_second /= towers;
    share.bytes_per_second /= towers;
    for (Profile& profile : profiles) {
      profile.ceiling = share;
    }
  }
}

/// Prints and writes the times of a step's parts, as far as requested. Adds the roof that was
/// measured for them to the record.
void show_kernels(const RunSettings& settings, Prepared& prepared, const SessionResult& session,
                  RunHost& host, results::Record& record) {
  if (!settings.outputs.profile && !prepared.trace) {
    return;
  }
  std::ostream& out = host.streams.out;
  Towers& towers = *prepared.towers;
  const DType type = settings.workload.int8 ? DType::s8 : settings.workload.dtype;
  const std::vector<KernelTimes> times =
      time_kernels(towers, host.clock, host.phases.of("profiling", "step"),
                   settings.outputs.profile ? std::optional(type) : std::nullopt);
  host.phases.clear();
  if (settings.outputs.profile) {
    const double step_seconds = mean_step_without_input(session);
    std::vector<Profile> profiles;
    for (int number = 0; number < towers.size(); ++number) {
      profiles.push_back(make_profile(towers[number].executor(),
                                      times[static_cast<std::size_t>(number)], step_seconds,
                                      settings));
    }
    add_ceilings(prepared, settings.execution.gpu.virtual_towers, type, profiles);
    print_profiles(out, profiles);
    print_input_times(settings, session, out);
    results::add_roof(record, roof_of(profiles), step_seconds);
    record.kernels = kernels_of(profiles.front());
  }
  if (prepared.trace) {
    report::print_dumping_trace(out, printable(*settings.outputs.files.trace));
    out.flush();
    write_trace(*prepared.trace, towers, times);
  }
}

/// The run is complete, so a failed diagnosis does not fail it. Throws RunEnded.
void diagnose(const RunSettings& settings, Prepared& prepared, RunHost& host) {
  try {
    diagnose_input(settings, prepared, host);
  } catch (const RunEnded&) {
    throw;
  } catch (const std::exception& error) {
    LOG(WARNING) << "warning: the diagnosis of the input failed: " << printable(error.what());
  }
}

/// Compares the results of the measured executor with the stored fingerprint; throws MismatchError.
void verify(const RunSettings& settings, Prepared& prepared, PhaseWatch& phases, World* world,
            results::Record& record, std::ostream& err) {
  Backend& backend = prepared.towers->first().backend();
  VerifiedRun run = verified_run(
      settings, *prepared.towers,
      [&](std::int64_t images) { return build_run_graph(settings, backend, images); },
      phases.of("checking", "kernel"));
  run.world = world;
  const Verification result = verify_run(run);
  phases.clear();
  record.verification.skipped = result.skipped;
  record.verification.numbers = result.numbers;
  if (!result.passed()) {
    throw MismatchError(fmt::format("verification failed: {} does not match the reference: {}",
                                    settings.workload.model->name, result.failures()));
  }
  if (!result.skipped.empty()) {
    err << fmt::format("{} not checked: {}; the other {} numbers match the reference\n",
                       stderr_line::fingerprint, result.skipped, result.numbers.size());
    return;
  }
  const results::VerifiedNumber& nearest = *result.nearest();
  constexpr double kPerCent = 100;
  err << fmt::format(
      "{}: matches the reference in {} numbers; the largest error is that of {}, at {:.1f} % of "
      "its tolerance\n",
      stderr_line::fingerprint, result.numbers.size(), nearest.name, kPerCent * nearest.share());
}

/// The same for a run in int8, whose rounding exceeds the tolerance of every fingerprint.
void compare_with_f32(const Quantization& quantization, Tower& tower, results::Record& record,
                      std::ostream& err) {
  const Judgement judgement = quantization.judge(tower);
  record.verification.skipped = "int8 is compared with f32 instead";
  record.quantization = to_record(judgement);
  err << judgement << "\n";
}

/// Returns the exit status: 1 if the run was to be reportable and is not.
int tell_reportable(const results::Record& record, std::ostream& err) {
  if (record.labels.reportable.value_or(true)) {
    return 0;
  }
  for (const std::string& violation : record.labels.violations) {
    err << stderr_line::not_reportable << printable(violation) << "\n";
  }
  return 1;
}

/// The failure of the first process that has one, with its name; empty if none has. Waits for all.
std::string first_failure(World& world, const std::string& own) {
  const std::vector<std::string> all = world.gather(own);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (!all[rank].empty()) {
      return world.size() == 1
                 ? all[rank]
                 : fmt::format("{}: {}", world.name(static_cast<int>(rank)), all[rank]);
    }
  }
  return "";
}

/// The numbers of a failed run are invalid, whatever the verdict on the card.
void add_failure(results::Record& record, const std::string& reason) {
  if (!record.gpus.empty()) {
    record.quality.verdict = results::Verdict::kInvalid;
    record.quality.reasons.push_back(fmt::format("the run failed: {}", reason));
  }
}

TrainingProgress progress_of(const Prepared& prepared, const SessionResult& session) {
  return {.steps = session.global_steps(),
          .warmup = session.training_warmup,
          .input = session.next_input,
          .reached_top_1 =
              prepared.evaluator == nullptr ? std::nullopt : prepared.evaluator->reached()};
}

void add_training(const Prepared& prepared, results::Record& record) {
  if (prepared.checkpoints != nullptr) {
    record.checkpoints = prepared.checkpoints->summary();
  }
  if (prepared.evaluator != nullptr) {
    record.evaluations = prepared.evaluator->evaluations();
  }
}

}  // namespace

int conclude(Begun& begun, Prepared& prepared, const Measured& measured, RunHost& host) {
  const RunSettings& settings = begun.settings;
  const RunStreams& streams = host.streams;
  const SessionResult& session = measured.session;
  RecordFile& file = begun.file;
  print_closing_notes(settings, measured, streams.err);
  print_gpus(file.record(), streams.err);
  if (settings.outputs.latency && measured.attempt.succeeded()) {
    print_latency(session, settings.workload.batch, settings.workload.model->example(),
                  streams.out);
  }
  Attempt attempt = measured.attempt;
  attempt.at([&] {
    if (prepared.checkpoints != nullptr) {
      prepared.checkpoints->finish(*prepared.towers, progress_of(prepared, session));
    }
  });
  attempt.at([&] {
    prepared.tensor_files.save(prepared.towers->first().executor(), session.global_steps());
  });
  add_training(prepared, file.record());
  if (session.stop == Stop::interrupted && attempt.succeeded()) {
    throw RunEnded(fmt::format("after {} measured steps", session.steps.size()));
  }
  const std::string ended = early_end(settings, session);
  if (!ended.empty()) {
    LOG(INFO) << "note: " << ended;
  }
  attempt.at([&] {
    host.phases.stop_if_asked("after the last step");
    // This record remains if the process is killed before the check. It must not count as checked.
    const auto keep_measurements = [&] {
      file.write_for_now(results::Status::kAborted, false,
                         "the process ended before the check of the network");
    };
    keep_measurements();
    if (prepared.evaluator != nullptr) {
      prepared.evaluator->finish(*prepared.towers, session.global_steps());
      add_training(prepared, file.record());
      host.phases.stop_if_asked("during the last evaluation");
    }
    // Write the measurements before ceiling and check, whose memory was not planned.
    keep_measurements();
    if (!session.steps.empty()) {
      show_kernels(settings, prepared, session, host, file.record());
    }
    keep_measurements();
    if (settings.outputs.diagnose_input && !session.steps.empty()) {
      diagnose(settings, prepared, host);
    }
    host.phases.stop_if_asked("before the check of the network");
    if (prepared.quantization) {
      compare_with_f32(*prepared.quantization, prepared.towers->first(), file.record(),
                       streams.err);
    } else {
      verify(settings, prepared, host.phases, host.world.others(), file.record(), streams.err);
    }
  });
  const std::string failure = first_failure(*host.world.world, attempt.reason());
  attempt.at([&] {
    if (!failure.empty()) {
      throw MismatchError(failure);
    }
  });
  if (attempt.succeeded()) {
    print_verdict(file.record(), streams.err);
    file.write(results::Status::kOk, false, ended);
    return tell_reportable(file.record(), streams.err);
  }
  add_failure(file.record(), attempt.reason());
  print_verdict(file.record(), streams.err);
  file.write(results::Status::kFailed, !session.all_measured(), attempt.reason());
  return attempt.end(streams.err);
}

}  // namespace bench
