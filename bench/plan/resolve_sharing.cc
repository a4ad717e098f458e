#include "bench/plan/resolve_sharing.h"

#include <algorithm>
#include <charconv>

#include "bench/flags/combinations.h"
#include "bench/flags/table.h"
#include "kernels/nccl_library.h"
#include "models/base/errors.h"
#include "variable_mgmt/collectives/topology.h"

namespace bench {
namespace {

/// The version of the NCCL library. Throws UsageError if it cannot be opened.
std::string nccl_version() { return nccl::Library().version(); }

/// NCCL accepts one tower per GPU.
AllReduceOffer offer_of(const RunSettings& settings) {
  const Execution& execution = settings.execution;
  return {.nccl = execution.device == RunDevice::gpu && !execution.gpu.virtual_towers,
          .processes = settings.workload.processes > 1};
}

std::string nccl_notice() { return fmt::format("NCCL {} reduces the gradients", nccl_version()); }

/// Handles a request for NCCL: throws UsageError if it cannot reduce the gradients.
void check_nccl(RunSettings& settings) {
  if (settings.workload.towers_of_update() == 1 || settings.execution.gpu.plan_for) {
    return;
  }
  if (settings.execution.device != RunDevice::gpu) {
    throw UsageError(
        fmt::format("--all_reduce_spec=nccl: NCCL does not support --device={}; use one of {}, or "
                    "omit this flag",
                    settings.execution.device_label, describe_algorithms(offer_of(settings))));
  }
  if (settings.execution.gpu.virtual_towers) {
    throw UsageError(fmt::format(
        "--all_reduce_spec=nccl: NCCL supports one tower per GPU, but --virtual_gpus={} "
        "puts all on one; omit one of the flags",
        settings.workload.towers));
  }
  try {
    settings.notices.push_back(nccl_notice());
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--all_reduce_spec=nccl: {}", error.what()));
  }
}

/// A single GPU has nothing to add, but may try NCCL.
void try_nccl(RunSettings& settings) {
  if (settings.execution.device != RunDevice::gpu || settings.workload.towers_of_update() > 1 ||
      settings.execution.gpu.plan_for) {
    return;
  }
  try {
    settings.notices.push_back(
        fmt::format("NCCL {} reduces the gradients of one GPU", nccl_version()));
  } catch (const UsageError& error) {
    settings.notices.push_back(
        fmt::format("the gradients of one GPU are not reduced: {}", error.what()));
    settings.execution.sharing.sums.spec.clear();
  }
}

/// Chooses NCCL by default, or reports why the host adds instead.
void choose_nccl(RunSettings& settings) {
  if (settings.execution.device != RunDevice::gpu || settings.workload.towers_of_update() == 1 ||
      settings.execution.gpu.plan_for) {
    return;
  }
  if (settings.execution.gpu.virtual_towers) {
    settings.notices.emplace_back(
        "gradients are reduced in host memory: NCCL supports one tower per GPU");
    return;
  }
  try {
    settings.notices.push_back(nccl_notice());
    settings.execution.sharing.sums.spec = {{.algorithm = "nccl"}};
  } catch (const UsageError& error) {
    settings.notices.push_back(
        fmt::format("gradients are reduced in host memory: {}", error.what()));
  }
}

/// Adds NCCL to the timed algorithms, or reports why not.
void time_nccl(RunSettings& settings) {
  if (settings.execution.device != RunDevice::gpu || settings.workload.towers_of_update() == 1 ||
      settings.execution.gpu.plan_for) {
    return;
  }
  if (settings.execution.gpu.virtual_towers) {
    settings.notices.emplace_back("NCCL is not timed: it supports one tower per GPU");
    return;
  }
  try {
    settings.notices.push_back(fmt::format("NCCL {} is timed too", nccl_version()));
    settings.execution.sharing.nccl_timed = true;
  } catch (const UsageError& error) {
    settings.notices.push_back(fmt::format("NCCL is not timed: {}", error.what()));
  }
}

/// Checks what towers that each hold the sum of gradients do not support.
void check_sums(RunSettings& settings, const Flags& flags) {
  if (flags.hierarchical_copy) {
    hierarchical_leaders(flags.network_topology, settings.workload.towers, 0);
  }
  // tf_cnn_benchmarks sends only these gradients in 16 bits.
  if (!asks_for_16_bits(flags) || flags.variable_update != "replicated") {
    return;
  }
  if (flags.compact_gradient_transfer) {
    settings.workload.compact = true;
    return;
  }
  settings.notices.emplace_back(
      "gradients are reduced in f32; tf_cnn_benchmarks sends them in 16 bits by default "
      "(--compact_gradient_transfer)");
}

/// Parses --gpu_indices. Throws UsageError unless it names each tower once.
std::vector<int> ring_order(const std::string& text, int towers) {
  const auto refuse = [&](const std::string& why) {
    throw UsageError(
        fmt::format("--gpu_indices={}: {}; list the devices 0 to {} in ring order, each once", text,
                    why, towers - 1));
  };
  std::vector<int> order;
  for (const std::string& word : split_text(text, ',')) {
    int device = 0;
    const char* const end = word.data() + word.size();
    const auto [read, error] = std::from_chars(word.data(), end, device);
    if (error != std::errc() || read != end || device < 0 || device >= towers) {
      refuse(fmt::format("'{}' is not a device of this run", word));
    }
    if (std::find(order.begin(), order.end(), device) != order.end()) {
      refuse(fmt::format("{} is listed more than once", device));
    }
    order.push_back(device);
  }
  if (order.size() != static_cast<std::size_t>(towers)) {
    refuse(fmt::format("{} of {} devices are listed", order.size(), towers));
  }
  return order;
}

}  // namespace

std::string joined_gradients_notice(const RunSettings& settings) {
  const Workload& workload = settings.workload;
  if (workload.all_towers() == 1 || !workload.training() || !workload.reduction) {
    return "";
  }
  const bool summed = workload.reduction == GradientReduction::sum;
  const LearningRate rate(workload.learning_rate);
  const std::int64_t last =
      settings.execution.warmup.num_batches + settings.execution.steps.num_batches - 1;
  const auto over_the_run = [&](double factor) {
    const double begin = rate.at(0) * factor;
    const double end = rate.at(std::max<std::int64_t>(last, 0)) * factor;
    return rate.is_constant_through(last)
               ? fmt::format("{:g}", begin)
               : fmt::format("{:g} at the first step and {:g} at the last", begin, end);
  };
  const std::string_view optimizer = row_of(workload.optimizer.rule).name;
  const bool multiplies = optimizer == "sgd" || optimizer == "momentum";
  if (workload.servers > 0) {
    if (workload.processes == 1) {
      return "";
    }
    return fmt::format(
        "each of {} workers makes its own update in every step{}, at a learning rate of {}",
        workload.processes, workload.asynchronous ? " and does not wait for the others" : "",
        over_the_run(summed && multiplies ? workload.towers : 1));
  }
  if (!summed) {
    return fmt::format(
        "the gradients of {} devices are averaged: the effective learning rate is {}",
        workload.all_towers(), over_the_run(1));
  }
  if (!multiplies) {
    return fmt::format(
        "the gradients of {} devices are summed: the learning rate is {}. How much larger the "
        "updates "
        "are than with --gradient_reduction=mean depends on {}",
        workload.all_towers(), over_the_run(1), optimizer);
  }
  const LearningRateRequest& request = workload.learning_rate.request;
  const ModelRate schedule = workload.learning_rate.model;
  const bool divided = (schedule == ModelRate::resnet || schedule == ModelRate::ssd) &&
                       !request.init_learning_rate && !request.piecewise_schedule;
  const std::string effective = over_the_run(workload.all_towers());
  return divided
             ? fmt::format(
                   "the gradients of {} devices are summed: the effective learning rate is {}, "
                   "as for their mean, because the default rate of {} is divided by {}",
                   workload.all_towers(), effective, workload.model->name, workload.all_towers())
             : fmt::format(
                   "the gradients of {} devices are summed: the effective learning rate is {}, "
                   "{} times that of their mean; --gradient_reduction=mean uses the mean",
                   workload.all_towers(), effective, workload.all_towers());
}

std::string compact_gradients_notice(const Workload& workload) {
  if (!workload.compact) {
    return "";
  }
  const std::string notice = fmt::format("gradients are sent and added in {}, 2 bytes per element",
                                         name_of(workload.dtype));
  if (workload.dtype != DType::f16 || workload.loss_scale.automatic) {
    return notice;
  }
  return fmt::format(
      "{}; a sum above 65504, including the loss scale, becomes infinite, which "
      "--fp16_enable_auto_loss_scale detects",
      notice);
}

BucketLimits buckets_of(const Flags& flags, int processes) {
  if (flags.allreduce_bucket_mb) {
    return {.bytes = static_cast<std::size_t>(*flags.allreduce_bucket_mb) << 20U};
  }
  // A network between hosts takes longer for a bucket than memory does.
  constexpr std::size_t kBucketsBetweenHosts = 16;
  return {.count = processes == 1 ? 1 : kBucketsBetweenHosts};
}

void resolve_sharing(RunSettings& settings, const ParseResult& parsed) {
  const Flags& flags = parsed.flags;
  const std::string spec = flags.all_reduce_spec.value_or("");
  if (flags.staged_vars && flags.datasets_use_prefetch &&
      parsed.given.contains("datasets_use_prefetch")) {
    throw UsageError(
        "--staged_vars cannot be combined with --datasets_use_prefetch; omit one of them");
  }
  settings.execution.sharing = {.one_holder = flags.local_parameter_device == "cpu",
                                .sums = {.packs = static_cast<int>(flags.gradient_repacking),
                                         .small = {.max_bytes = flags.agg_small_grads_max_bytes,
                                                   .max_group = flags.agg_small_grads_max_group},
                                         .buckets = buckets_of(flags, settings.workload.processes),
                                         .overlap = flags.overlap,
                                         .nccl_timeout = std::chrono::seconds(flags.nccl_timeout)},
                                .timed = spec == "auto" && all_reduces(settings.workload)};
  if (!flags.gpu_indices.empty()) {
    settings.execution.sharing.sums.ring_order =
        ring_order(flags.gpu_indices, settings.workload.towers);
  }
  settings.workload.reduction = settings.workload.strategy->reduction;
  if (flags.gradient_reduction) {
    settings.workload.reduction =
        flags.gradient_reduction == "sum" ? GradientReduction::sum : GradientReduction::mean;
  }
  if (flags.hierarchical_copy) {
    settings.execution.sharing.sums.spec = {
        {.algorithm = fmt::format("hierarchical/{}", flags.network_topology)}};
  } else if (!spec.empty() && spec != "auto") {
    settings.execution.sharing.sums.spec = parse_all_reduce_spec(spec, offer_of(settings));
  }
  auto& ranges = settings.execution.sharing.sums.spec;
  const bool within_process = settings.workload.processes > 1 && spec == "collective" &&
                              flags.variable_update == "collective_all_reduce";
  const bool adds = settings.workload.all_towers() > 1 && all_reduces(settings.workload);
  if (within_process || (adds_by_mpi(ranges) && !adds)) {
    ranges.clear();
  }
  if (all_reduces(settings.workload)) {
    if (settings.workload.all_towers() > 1) {
      check_sums(settings, flags);
    }
    // A single GPU tries NCCL.
    if (!spec.empty() && (spec == "auto" || !ranges.empty()) &&
        (settings.workload.all_towers() > 1 || adds_by_nccl(ranges))) {
      check_all_reduce_spec(spec, settings.workload.towers, offer_of(settings));
    }
    if (adds_by_nccl(settings.execution.sharing.sums.spec)) {
      check_nccl(settings);
      try_nccl(settings);
    } else if (settings.execution.sharing.timed) {
      time_nccl(settings);
    } else if (ranges.empty()) {
      choose_nccl(settings);
    }
  }
  if (settings.workload.all_towers() == 1 || !settings.workload.training() ||
      !settings.workload.reduction) {
    return;
  }
  // The learning rates of ResNet and SSD compensate for the sum.
  settings.workload.learning_rate.summed_devices =
      settings.workload.reduction == GradientReduction::sum ? settings.workload.towers_of_update()
                                                            : 1;
}

}  // namespace bench
