#include "bench/plan/tuning.h"

#include <algorithm>
#include <optional>
#include <sstream>

#include "kernels/runtime/plan.h"
#include "models/base/errors.h"
#include "results/record/build_info.h"
#include "results/record/identity.h"

namespace bench {
namespace {

/// The fraction of free memory that timing uses; the rest is for unplanned allocations.
constexpr double kTimedShare = 0.9;
/// The number of candidates per layer that --autotune=quick times.
constexpr std::size_t kQuick = 4;

/// Virtual machines may have processors of several generations with one name.
std::string processor_text(const SystemFiles& files) {
  const auto text = files.read("/proc/cpuinfo");
  const auto field = [&](std::string_view name) {
    const auto found = text.known() ? field_of(text.value(), name) : text;
    return found.known() ? found.value() : "unknown";
  };
  return fmt::format("{} (family {}, model {}, stepping {})", field("model name"),
                     field("cpu family"), field("model"), field("stepping"));
}

std::string driver_text(const Device& device, const SystemFiles& files) {
  const auto module = files.read("/proc/driver/nvidia/version");
  const auto lines = lines_of(module.known() ? module.value() : "");
  return lines.empty() ? fmt::format("CUDA {}", device.driver)
                       : fmt::format("CUDA {}, {}", device.driver, lines.front());
}

std::string program_text() {
  const results::Source& source = results::source_info();
  const results::Build& build = results::build_info();
  return fmt::format("{} {}{}, {} {}, {}", source.bench_version,
                     source.git_rev.value_or("of no known revision"),
                     source.dirty.value_or(false) ? " with changes" : "", build.compiler,
                     build.version, build.flags);
}

/// The choices of an earlier run, if they can be used.
std::optional<Choices> kept_choices(const TuningRequest& request, const TuningKey& key,
                                    std::vector<std::string>& notices) {
  TuningCache::Found found = request.cache.find(key);
  if (found.choices) {
    found.why_not = why_unusable(request.settings, request.graph, request.backend, request.limits,
                                 *found.choices);
    if (found.why_not.empty()) {
      return std::move(found.choices);
    }
    found.why_not = fmt::format("{}: {}", request.cache.file(key)->string(), found.why_not);
  }
  if (!found.why_not.empty()) {
    notices.push_back(fmt::format("kernels are timed again: {}", found.why_not));
  }
  return std::nullopt;
}

void tell_counts(const CandidateTimer::Counts& counts, std::vector<std::string>& notices) {
  if (counts.too_large > 0) {
    notices.push_back(fmt::format(
        "{} kernels were not timed: they need more memory than the run leaves", counts.too_large));
  }
  if (counts.refused > 0) {
    notices.push_back(
        fmt::format("{} kernels were not timed: the device does not support them", counts.refused));
  }
  if (!counts.failed.empty()) {
    notices.push_back(fmt::format("{} kernels failed when they were timed; the first was {}",
                                  counts.failed.size(), counts.failed.front()));
  }
}

}  // namespace

TuningKey tuning_identity(const Device& device, const SystemFiles& files) {
  TuningKey key;
  key.versions = {{"libraries", device.library_version}, {"program", program_text()}};
  if (!device.driver.empty()) {
    key.subject["device"] = device.name;
    key.versions["driver"] = driver_text(device, files);
  } else {
    key.subject["device"] = fmt::format("{}, {}", processor_text(files), device.isa);
    key.subject["threads"] = std::to_string(device.processors.size());
  }
  return key;
}

std::string why_unusable(const RunSettings& settings, const Graph& graph, Backend& backend,
                         const MemoryLimits& limits, const Choices& choices) {
  LoweringOptions options = settings.execution.lowering();
  options.pinned = &choices;
  try {
    const Plan plan(graph, backend, options);
    return limits.fit(limits.need_of(
               run_memory(settings, backend, tower_plan(plan), settings.workload.batch)))
               ? ""
               : "the choices need more memory than is free now";
  } catch (const ChoicesError& error) {
    return error.what();
  }
}

TuningKey tuning_key(const RunSettings& settings, const Graph& graph, TuningKey identity) {
  std::ostringstream text;
  text << graph;
  identity.subject.insert({{"autotune", std::string(name_of(settings.execution.autotune))},
                           {"deterministic", settings.execution.deterministic ? "true" : "false"},
                           {"winograd", settings.execution.winograd ? "true" : "false"},
                           {"data_format", std::string(name_of(settings.execution.format))},
                           {"use_tf32", settings.workload.tf32 ? "true" : "false"},
                           {"graph", results::sha256_hex(text.str())}});
  return identity;
}

TimingMemory timing_memory(const MemoryLimits& limits, PlannedMemory planned) {
  if (!limits.device && !limits.host.known()) {
    return {};
  }
  planned.executor.workspace = 0;
  const MemoryNeed rest = limits.need_of(planned);
  const auto free =
      static_cast<std::size_t>(limits.device ? limits.device->bytes : limits.host.value().bytes);
  const std::size_t need = limits.device ? rest.device : rest.host;
  return {.all = static_cast<std::size_t>(kTimedShare * static_cast<double>(free)),
          .workspace = free > need ? free - need : 0};
}

TuningResult tune(const TuningRequest& request) {
  const RunSettings& settings = request.settings;
  TuningResult result;
  const TuningKey key = tuning_key(request.settings, request.graph, request.identity);
  if (auto kept = kept_choices(request, key, result.notices)) {
    result.choices = std::move(*kept);
    result.by = ChosenBy::kept;
    return result;
  }
  const Plan estimated(request.graph, request.backend, settings.execution.lowering());
  result.choices = estimated.lowered.choices;
  const PlannedMemory memory =
      run_memory(settings, request.backend, tower_plan(estimated), settings.workload.batch);
  if (!request.limits.fit(request.limits.need_of(memory))) {
    return result;  // The run is refused later, with a message that names what fits.
  }
  CandidateTimer timer(request.backend, request.timer, timing_memory(request.limits, memory),
                       request.watch);
  LoweringOptions options = settings.execution.lowering();
  options.tuner.seconds = [&](const Graph& graph, const Node& node, const Candidate& candidate) {
    return timer.seconds(graph, node, candidate);
  };
  if (settings.execution.autotune == Autotune::quick) {
    options.tuner.most = kQuick;
  } else {
    options.tuner.reorder_seconds = [&](const TensorType& type, const Layout& from,
                                        const Layout& to) {
      return timer.reorder_seconds(type, from, to);
    };
  }
  result.choices = choose(estimated.graph, request.backend, options).choices;
  result.counts = timer.counts();
  tell_counts(result.counts, result.notices);
  if (result.counts.timed == 0) {
    return result;  // There is nothing to choose between.
  }
  if (const std::string why =
          why_unusable(settings, request.graph, request.backend, request.limits, result.choices);
      !why.empty()) {
    result.notices.push_back(fmt::format("the timed kernels are not used: {}", why));
    result.choices = estimated.lowered.choices;
    return result;
  }
  result.by = ChosenBy::timed;
  if (const std::string why = request.cache.keep(key, result.choices); !why.empty()) {
    result.notices.push_back(
        fmt::format("the choice of kernels is not saved for later runs: {}", why));
  }
  return result;
}

}  // namespace bench
