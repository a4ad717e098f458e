#include "bench/runs/run.h"

#include <glog/logging.h>

#include <algorithm>
#include <exception>
#include <iomanip>
#include <optional>
#include <ostream>
#include <sstream>

#include "bench/after/build_record.h"
#include "bench/after/profile.h"
#include "bench/after/record_file.h"
#include "bench/after/verification.h"
#include "bench/host/environment.h"
#include "bench/host/machine.h"
#include "bench/loop/session.h"
#include "bench/plan/device.h"
#include "bench/plan/first_values.h"
#include "bench/plan/input.h"
#include "bench/plan/memory_check.h"
#include "bench/plan/network.h"
#include "bench/plan/quantization.h"
#include "bench/plan/settings.h"
#include "bench/plan/tensor_files.h"
#include "models/base/errors.h"
#include "models/base/text.h"
#include "results/build_info.h"
#include "results/writer.h"
#include "variable_mgmt/strategy.h"

namespace bench {
namespace {

using std::chrono::nanoseconds;

report::Header header_of(const RunSettings& settings) {
  return {.version = results::source_info().bench_version,
          .model = std::string(settings.model->printed_name),
          .dataset = cat(settings.dataset->name, settings.flags.input_file ? " (file)" : ""),
          .synthetic = settings.synthetic(),
          .mode = settings.training() ? "training" : "forward only",
          .global_batch = settings.batch,
          .batch_per_device = settings.batch,
          .batches_per_group = settings.flags.batch_group_size,
          .num_batches = settings.steps.num_batches,
          .num_epochs = settings.steps.num_epochs,
          .devices = {cat("/", settings.device_label, ":0")},
          .numa_bind = settings.flags.use_numa_affinity,
          .data_format = std::string(name_of(settings.format)),
          .precision = describe_precision(settings),
          .optimizer = settings.flags.optimizer,
          .variable_update = settings.flags.variable_update,
          .all_reduce_spec = settings.flags.all_reduce_spec.value_or("")};
}

bool dumps(const RunSettings& settings, std::string_view what) {
  const auto& asked = settings.flags.dump;
  return std::find(asked.begin(), asked.end(), what) != asked.end();
}

/// Prints what --dump asks for.
void dump(const RunSettings& settings, Backend& backend, std::ostream& out) {
  const Graph graph = build_run_graph(settings, backend, settings.batch);
  if (dumps(settings, "graph")) {
    out << graph;
  }
  if (dumps(settings, "plan")) {
    const Plan plan(graph, backend, {.format = settings.format});
    out << plan.lowered;
    out << "planned memory: " << run_memory(settings, plan.memory.report, settings.batch) << "\n";
  }
}

std::vector<std::string> warnings_before(const SystemFiles& files, const Device& device,
                                         const EnvironmentSnapshot& before) {
  const EnvironmentSnapshot after = read_environment(files, device.processors);
  std::vector<std::string> warnings =
      environment_warnings(before, after, static_cast<int>(device.processors.size()));
  warnings.insert(warnings.end(), device.warnings.begin(), device.warnings.end());
  return warnings;
}

void print_closing_notes(const SessionResult& session, const InputStatistics& input,
                         std::ostream& err) {
  if (session.skipped_updates > 0) {
    err << "skipped updates: " << session.skipped_updates
        << ", for gradients that were not finite; the loss scale was halved each time\n";
  }
  if (session.steps.empty()) {
    return;
  }
  nanoseconds steps{};
  for (const nanoseconds step : session.steps) {
    steps += step;
  }
  const auto share = [&](nanoseconds part) {
    return 100.0 * static_cast<double>(part.count()) / static_cast<double>(steps.count());
  };
  err << std::fixed << std::setprecision(1) << "waiting for input: " << share(session.input_wait)
      << " % of the step time";
  if (input.threads > 0) {
    err << " (" << input.threads << (input.threads == 1 ? " thread prepares" : " threads prepare")
        << " images)";
  }
  err << "\noutside kernels and input: " << share(steps - session.input_wait - session.kernels)
      << " % of the step time\n";
}

/// The run is not to be trusted: its network computes something else.
class MismatchError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Holds what the executor that was timed computes against the stored fingerprint; throws
/// MismatchError.
void verify(const RunSettings& settings, Tower& tower, UpdateStrategy* strategy, PhaseWatch& phases,
            results::Record& record, std::ostream& err) {
  Backend& backend = tower.backend();
  const Verification result = verify_run(
      settings,
      {.tower = tower,
       .strategy = strategy,
       .graph = [&](std::int64_t images) { return build_run_graph(settings, backend, images); },
       .watch = phases.of("checking", "kernel")});
  phases.clear();
  record.verification.skipped = result.skipped;
  for (const CheckedNumber& number : result.numbers) {
    record.verification.numbers.push_back({.name = number.name,
                                           .measured = number.measured,
                                           .stored = number.stored,
                                           .deviation = number.deviation,
                                           .tolerance = number.tolerance});
  }
  if (!result.passed()) {
    throw MismatchError(cat("the network computes something else than ", settings.model->name,
                            " should: ", result.failures()));
  }
  if (!result.skipped.empty()) {
    err << "fingerprint not checked: " << result.skipped << "; the other " << result.numbers.size()
        << " numbers match the reference\n";
    return;
  }
  const CheckedNumber& nearest = *result.nearest();
  constexpr double kPerCent = 100;
  err << "fingerprint: matches the reference in " << result.numbers.size() << " numbers; "
      << nearest.name << " is nearest to its limit, at " << std::fixed << std::setprecision(1)
      << kPerCent * nearest.share() << " % of it\n";
}

/// The same for a run in int8, whose rounding no fingerprint allows for.
void compare_with_f32(const Quantization& quantization, Tower& tower, results::Record& record,
                      std::ostream& err) {
  const Judgement judgement = quantization.judge(tower);
  record.verification.skipped = "int8 is held against f32 instead";
  record.quantization = to_record(judgement);
  err << judgement << "\n";
}

/// The parts of a run one after the other; what comes behind a failure is left out. The end that
/// the user asks for goes its own way.
class Attempt {
 public:
  template <class Part>
  void at(const Part& part) {
    if (!succeeded()) {
      return;
    }
    try {
      part();
    } catch (const RunEnded&) {
      throw;
    } catch (const LossError& error) {
      reason_ = error.what();
    } catch (const MismatchError& error) {
      reason_ = error.what();
    } catch (const std::exception& error) {
      reason_ = error.what();
      fatal_ = std::current_exception();
    }
  }

  [[nodiscard]] bool succeeded() const { return reason_.empty(); }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  /// Prints the reason and returns the exit status, or throws on what main tells from others.
  int end(std::ostream& err) const {
    if (fatal_ != nullptr) {
      std::rethrow_exception(fatal_);
    }
    err << "bench: " << printable(reason_) << "\n";
    return 1;
  }

 private:
  std::string reason_;
  std::exception_ptr fatal_;
};

/// What run_once has before anything can end the run.
struct Begun {
  const RunRequest& request;
  RunSettings& settings;
  const EnvironmentSnapshot& before;
  RecordFile& file;
};

/// The run; its outcome's status is 0 unless a part failed. Throws RunEnded.
void run_to_the_end(const Begun& begun, RunHost& host, RunOutcome& outcome) {
  const auto& [request, settings, before, file] = begun;
  const RunStreams& streams = host.streams;
  const SystemFiles& files = host.files;
  PhaseWatch& phases = host.phases;
  const auto limit = memory_limit(files);
  check_variables_memory(settings, limit);
  std::optional<AtomicFile> trace;
  if (!settings.flags.trace_file.empty()) {
    trace.emplace(settings.flags.trace_file, "trace file");
  }
  const Graph network = build_run_network(settings, settings.batch);
  const RunTensorFiles tensor_files(settings, network);

  FirstValues values(settings, network, tensor_files);
  Device& device = host.device(settings);
  if (settings.flags.use_fp16) {
    file.record().workload.dtype = name_of(settings.dtype);
  }
  for (const auto& notices : {settings.notices, device.notices, tensor_files.notices()}) {
    for (const std::string& notice : notices) {
      LOG(INFO) << "note: " << printable(notice);
    }
  }
  if (!settings.flags.dump.empty()) {
    dump(settings, *device.backend, streams.out);
    return;
  }
  const auto bytes_for = [&](std::int64_t batch) {
    return plan_run_memory(settings, *device.backend, batch).total();
  };
  // Planning is for batches whose images fit; the others are refused before it.
  check_images_memory(settings, limit, bytes_for);
  PlannedMemory& memory = outcome.memory;
  const auto admit = [&](const MemoryReport& executor) {
    memory = run_memory(settings, executor, settings.batch);
    check_memory(settings, memory, limit, bytes_for);
    phases.clear();
    streams.err << "planned memory: " << memory << "\n";
  };

  report::print_header(streams.out, header_of(settings));
  if (settings.warmup.rounded_up) {
    report::print_rounded_warm_up(streams.out, settings.warmup.num_batches);
  }
  report::print_generating_model(streams.out);
  InitialValues first_values = values.get(phases);
  phases.clear();
  std::optional<Quantization> quantization;
  if (settings.quantized()) {
    quantization.emplace(settings, *device.backend, first_values, streams.err,
                         phases.of("calibrating int8", "batch"));
  }
  const Graph graph = quantization ? quantization->graph()
                                   : build_run_graph(settings, *device.backend, settings.batch);
  phases.clear();
  report::print_initializing_graph(streams.out);
  Tower tower(graph, *device.backend, {.format = settings.format, .admit = admit}, first_values);
  first_values.clear();  // The tower has its own copy.
  const auto strategy = make_run_strategy(settings, tower);
  const auto input = make_run_input(settings, tower.executor().input_layout("images"),
                                    phases.of("drawing the images", "row"));
  phases.stop_if_asked("before the first step");
  phases.clear();
  if (tensor_files.dumps()) {
    tensor_files.dump(tower, input->next(), phases.of("computing the tensors", "step"));
    return;
  }
  add_plan(file.record(), settings, device, tower.executor());
  file.record().quality.warnings = warnings_before(files, device, before);
  for (const std::string& warning : file.record().quality.warnings) {
    LOG(WARNING) << "warning: " << warning;
  }

  SessionResult& session = outcome.session;
  Attempt attempt;
  attempt.at([&] {
    run_session(settings,
                {.tower = tower,
                 .strategy = strategy.get(),
                 .input = *input,
                 .clock = host.clock,
                 .interrupted = [&] { return host.end_asked(); },
                 .out = streams.out,
                 .progress = streams.err,
                 .progress_terminal = streams.err_terminal},
                session);
  });
  const InputStatistics statistics = input->statistics();
  if (request.begin.peak_is_own) {
    outcome.peak_rss = peak_rss_bytes(files);
  } else {
    outcome.peak_rss = Unknown{"the system does not let it begin anew after what ran before"};
  }
  add_measurements(file.record(), settings,
                   {.session = session,
                    .memory = memory,
                    .input = statistics,
                    .setup = session.first_step_at - request.begin.at,
                    .peak_rss = outcome.peak_rss,
                    .times_before = before.times},
                   files);
  print_closing_notes(session, statistics, streams.err);
  attempt.at([&] { tensor_files.save(tower.executor(), session.global_steps()); });
  if (session.interrupted && attempt.succeeded()) {
    throw RunEnded(cat("after ", session.steps.size(), " measured steps"));
  }
  std::string ended;
  if (session.out_of_time) {
    ended = cat("--max_seconds=", *settings.flags.max_seconds, " ended the run after ",
                session.steps.size(), " of ", settings.steps.num_batches, " steps");
    LOG(INFO) << "note: " << ended;
  }
  attempt.at([&] {
    phases.stop_if_asked("after the last step");
    if (settings.flags.profile) {
      Profile profile = make_profile(tower.executor(), session, settings.optimizer);
      profile.ceiling =
          device.backend->measure_ceiling(settings.quantized() ? DType::s8 : settings.dtype);
      print_profile(streams.out, profile);
    }
    if (trace) {
      report::print_dumping_trace(streams.out, printable(settings.flags.trace_file));
      streams.out.flush();
      write_trace(*trace, tower.executor());
    }
    // What was measured is on the disk before the check, which takes memory that was not planned.
    file.write_for_now(results::Status::kOk, false, ended);
    phases.stop_if_asked("before the check of the network");
    if (quantization) {
      compare_with_f32(*quantization, tower, file.record(), streams.err);
    } else {
      verify(settings, tower, strategy.get(), phases, file.record(), streams.err);
    }
  });
  if (!attempt.succeeded()) {
    const bool complete =
        session.steps.size() == static_cast<std::size_t>(settings.steps.num_batches);
    file.write(results::Status::kFailed, !complete && !session.out_of_time, attempt.reason());
    outcome.status = attempt.end(streams.err);
    return;
  }
  file.write(results::Status::kOk, false, ended);
}

}  // namespace

RunOutcome run_once(const RunRequest& request, RunHost& host) {
  const ParseResult& parsed = request.parsed;
  RunSettings settings = resolve_settings(parsed);
  const EnvironmentSnapshot before = read_environment(host.files, {});
  RecordFile file(parsed.flags, begin_record(settings, parsed, host.command_line, host.files),
                  host.streams.out);
  file.record().batch_choice = request.choice;
  RunOutcome outcome;
  SessionResult& session = outcome.session;
  try {
    run_to_the_end({.request = request, .settings = settings, .before = before, .file = file}, host,
                   outcome);
  } catch (const RunEnded& ended) {
    const bool all_measured = !session.interrupted && !session.steps.empty();
    session.interrupted = true;
    const bool by_user = host.interrupt.requested();
    file.write(by_user ? results::Status::kAborted : results::Status::kFailed, !all_measured,
               cat(host.end_reason(), " ", ended.what()));
    outcome.status = host.end(ended);
  }
  return outcome;
}

}  // namespace bench
