#include "bench/runs/verify_command.h"

#include <glog/logging.h>

#include <iomanip>
#include <ostream>

#include "bench/loop/run_towers.h"
#include "bench/plan/network.h"
#include "bench/plan/resolve_settings.h"
#include "bench/plan/verified_run.h"
#include "models/base/errors.h"

namespace bench {
namespace {

/// The settings of one model's check; small batches are sufficient.
RunSettings settings_for(const ParseResult& parsed, const Model& model, bool training) {
  constexpr std::int64_t kBatch = 2;
  ParseResult own = parsed;
  own.flags.model = model.name;
  own.flags.data_name = model.dataset;
  own.flags.forward_only = !training;
  RunSettings settings = resolve_settings(own);
  const bool given = settings.workload.batch_request.rule == BatchRequest::Rule::given;
  return given ? settings : with_batch(std::move(settings), kBatch);
}

Verification verify_model(const RunSettings& settings, std::span<const Device> devices,
                          TowerThreads& threads, PhaseWatch& phases) {
  Backend& backend = *devices.front().backend;
  const ExecutorOptions options{.format = settings.execution.format,
                                .deterministic = settings.execution.deterministic,
                                .pixels = settings.execution.lowering().pixels};
  const InitialValues values = fingerprint_stimulus(settings.workload).values;
  TowerSources sources{.backends = {},
                       .graph =
                           [&](int number) {
                             return build_run_graph(of_tower(settings, number), backend,
                                                    settings.workload.batch);
                           },
                       .options = options,
                       .values = values};
  for (const Device& device : devices) {
    sources.backends.push_back(device.backend.get());
  }
  const auto towers = make_run_towers(settings, threads, sources);
  return verify_run(verified_run(
      settings, *towers,
      [&](std::int64_t images) { return build_run_graph(settings, backend, images); },
      phases.of("checking", "kernel")));
}

void print_titles(std::ostream& out) {
  out << std::left << std::setw(26) << "model" << std::setw(10) << "dataset" << std::right
      << std::setw(8) << "numbers" << std::setw(14) << "of tolerance"
      << "  verdict, and the number with the largest error\n";
}

void print_line(std::ostream& out, const Model& model, const Verification& result) {
  const results::VerifiedNumber* const nearest = result.nearest();
  constexpr double kPerCent = 100;
  out << std::left << std::setw(26) << model.name << std::setw(10) << model.dataset << std::right
      << std::setw(8) << result.numbers.size();
  if (nearest == nullptr) {
    out << std::setw(14) << "-"
        << "  ";
  } else {
    out << std::setw(12) << std::fixed << std::setprecision(1) << kPerCent * nearest->share()
        << " %  ";
  }
  if (!result.passed()) {
    out << "MISMATCH: " << result.failures() << "\n";
  } else if (!result.skipped.empty()) {
    out << "not checked: " << result.skipped << "\n";
  } else {
    out << "ok; " << nearest->name << ": deviation " << std::scientific << nearest->deviation
        << "\n";
  }
  out << std::defaultfloat << std::flush;
}

}  // namespace

int run_verification(const ParseResult& parsed, RunHost& host) {
  const bool all = *parsed.flags.verify == "all";
  if (all && parsed.given.contains("model")) {
    throw UsageError(fmt::format(
        "--verify=all checks every model: remove --model={}, or give --verify without a value",
        parsed.flags.model));
  }
  RunSettings asked = resolve_settings(parsed);
  if (const std::string difference = difference_to_stored(asked.workload); !difference.empty()) {
    throw UsageError(fmt::format(
        "--verify checks the model's default network, and training with even batch sizes: {}",
        difference));
  }
  asked.notices.clear();
  const std::span<const Device> devices = host.devices(asked);
  for (const std::string& notice : asked.notices) {
    LOG(INFO) << "note: " << notice;
  }
  bool passed = true;
  std::ostream& out = host.streams.out;
  print_titles(out);
  for (const Model& model : all_models()) {
    if (!all && &model != asked.workload.model) {
      continue;
    }
    Verification result;
    for (const bool training : {true, false}) {
      if (training && parsed.flags.forward_only) {
        continue;
      }
      host.phases.stop_if_asked(fmt::format("before the check of {}", model.name));
      Verification part;
      try {
        RunSettings settings = settings_for(parsed, model, training);
        settings.workload.dtype = asked.workload.dtype;
        part = verify_model(settings, devices, host.tower_threads(), host.phases);
      } catch (const UsageError& error) {
        // This network cannot be checked on this device, but others can.
        if (!all) {
          throw;
        }
        part.skipped = error.what();
      }
      result.numbers.insert(result.numbers.end(), part.numbers.begin(), part.numbers.end());
      result.skipped = result.skipped.empty() ? part.skipped : result.skipped;
    }
    host.phases.clear();
    passed = passed && result.skipped.empty() && result.passed();
    print_line(out, model, result);
  }
  return passed ? 0 : 1;
}

}  // namespace bench
