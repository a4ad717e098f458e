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
  return {.nccl = settings.device == RunDevice::gpu && !settings.gpu.virtual_towers};
}

/// Handles a request for NCCL: throws UsageError if it cannot add the gradients.
void check_nccl(RunSettings& settings) {
  if (settings.towers == 1 || settings.gpu.plan_for) {
    return;
  }
  if (settings.device != RunDevice::gpu) {
    throw UsageError(
        cat("--all_reduce_spec=nccl: NCCL adds on GPUs, not with --device=", settings.device_label,
            "; accepted is one of ", describe_algorithms(offer_of(settings))));
  }
  if (settings.gpu.virtual_towers) {
    throw UsageError(cat("--all_reduce_spec=nccl: NCCL takes one tower of each GPU, and ",
                         "--virtual_gpus=", settings.towers,
                         " puts all on one; leave one of them out"));
  }
  try {
    settings.notices.push_back(cat("gradients are added by NCCL ", nccl_version()));
  } catch (const UsageError& error) {
    throw UsageError(cat("--all_reduce_spec=nccl: ", error.what()));
  }
}

/// A single GPU has nothing to add, but may try NCCL.
void try_nccl(RunSettings& settings) {
  if (settings.device != RunDevice::gpu || settings.towers > 1 || settings.gpu.plan_for) {
    return;
  }
  try {
    settings.notices.push_back(cat("NCCL ", nccl_version(), " adds the gradients of one GPU"));
  } catch (const UsageError& error) {
    settings.notices.push_back(cat("the gradients of one GPU are not added: ", error.what()));
    settings.sharing.sums.spec.clear();
  }
}

/// Chooses NCCL by default, or reports why the host adds instead.
void choose_nccl(RunSettings& settings) {
  if (settings.device != RunDevice::gpu || settings.towers == 1 || settings.gpu.plan_for) {
    return;
  }
  if (settings.gpu.virtual_towers) {
    settings.notices.emplace_back(
        "gradients are added in the host's memory: NCCL takes one tower of each GPU");
    return;
  }
  try {
    settings.notices.push_back(cat("gradients are added by NCCL ", nccl_version()));
    settings.sharing.sums.spec = {{.algorithm = "nccl"}};
  } catch (const UsageError& error) {
    settings.notices.push_back(cat("gradients are added in the host's memory: ", error.what()));
  }
}

/// Adds NCCL to the timed algorithms, or reports why not.
void time_nccl(RunSettings& settings) {
  if (settings.device != RunDevice::gpu || settings.towers == 1 || settings.gpu.plan_for) {
    return;
  }
  if (settings.gpu.virtual_towers) {
    settings.notices.emplace_back("NCCL is not timed: it takes one tower of each GPU");
    return;
  }
  try {
    settings.notices.push_back(cat("NCCL ", nccl_version(), " is timed too"));
    settings.sharing.nccl_timed = true;
  } catch (const UsageError& error) {
    settings.notices.push_back(cat("NCCL is not timed: ", error.what()));
  }
}

/// Checks what towers that each hold the sum of gradients do not support.
void check_sums(RunSettings& settings, const Flags& flags) {
  if (flags.hierarchical_copy) {
    hierarchical_leaders(flags.network_topology, settings.towers, 0);
  }
  // tf_cnn_benchmarks sends only these gradients in 16 bits.
  if (!asks_for_16_bits(flags) || flags.variable_update != "replicated") {
    return;
  }
  if (flags.compact_gradient_transfer) {
    settings.sharing.compact = true;
    return;
  }
  settings.notices.emplace_back(
      "gradients are added in f32; tf_cnn_benchmarks sends them in 16 bits by default "
      "(--compact_gradient_transfer)");
}

/// Parses --gpu_indices. Throws UsageError unless it names each tower once.
std::vector<int> ring_order(const std::string& text, int towers) {
  const auto refuse = [&](const std::string& why) {
    throw UsageError(cat("--gpu_indices=", text, ": ", why, "; accepted is the order of all ",
                         towers, " devices in a ring, each of 0 to ", towers - 1, " once"));
  };
  std::vector<int> order;
  for (const std::string& word : split_text(text, ',')) {
    int device = 0;
    const char* const end = word.data() + word.size();
    const auto [read, error] = std::from_chars(word.data(), end, device);
    if (error != std::errc() || read != end || device < 0 || device >= towers) {
      refuse(cat("'", word, "' is no device of this run"));
    }
    if (std::find(order.begin(), order.end(), device) != order.end()) {
      refuse(cat(device, " is there twice"));
    }
    order.push_back(device);
  }
  if (order.size() != static_cast<std::size_t>(towers)) {
    refuse(cat("names ", order.size(), " of them"));
  }
  return order;
}

}  // namespace

std::string joined_gradients_notice(const RunSettings& settings) {
  if (settings.towers == 1 || !settings.training() || !settings.reduction) {
    return "";
  }
  const bool summed = settings.reduction == GradientReduction::sum;
  const LearningRate rate(settings.learning_rate);
  const std::int64_t last = settings.warmup.num_batches + settings.steps.num_batches - 1;
  const auto over_the_run = [&](double factor) {
    const double begin = rate.at(0) * factor;
    const double end = rate.at(std::max<std::int64_t>(last, 0)) * factor;
    return rate.is_constant_through(last)
               ? cat(begin)
               : cat(begin, " at the first step and ", end, " at the last");
  };
  const std::string start = cat("the gradients of ", settings.towers,
                                " devices are joined by their ", name_of(*settings.reduction));
  const std::string_view optimizer = row_of(settings.optimizer.rule).name;
  if (summed && optimizer != "sgd" && optimizer != "momentum") {
    return cat(start, ": the learning rate is ", over_the_run(1), ", and how much more an update ",
               "is than that of their mean (--gradient_reduction=mean) is up to ", optimizer);
  }
  if (!summed) {
    return cat(start, ": the effective learning rate is ", over_the_run(1));
  }
  const LearningRateRequest& request = settings.learning_rate.request;
  const bool divided = settings.learning_rate.model == ModelRate::resnet &&
                       !request.init_learning_rate && !request.piecewise_schedule;
  return cat(start, ": the effective learning rate is ", over_the_run(settings.towers),
             divided ? cat(", that of their mean: ResNet's own rate is divided by ",
                           settings.towers, " before")
                     : cat(", ", settings.towers,
                           " times that of their mean (--gradient_reduction=mean)"));
}

std::string compact_gradients_notice(const RunSettings& settings) {
  if (!settings.sharing.compact) {
    return "";
  }
  return cat("gradients are sent and added in ", name_of(settings.dtype), ", 2 bytes an element",
             settings.dtype == DType::f16 && !settings.loss_scale.automatic
                 ? ": a sum above 65504, loss scale included, becomes infinite, which "
                   "--fp16_enable_auto_loss_scale sees"
                 : "");
}

void resolve_sharing(RunSettings& settings, const ParseResult& parsed) {
  const Flags& flags = parsed.flags;
  const std::string spec = flags.all_reduce_spec.value_or("");
  if (flags.staged_vars && flags.datasets_use_prefetch &&
      parsed.given.contains("datasets_use_prefetch")) {
    throw UsageError(
        "--staged_vars cannot be combined with --datasets_use_prefetch; leave one of them out");
  }
  settings.sharing = {
      .one_holder = flags.local_parameter_device == "cpu",
      .relaxed = flags.variable_consistency == "relaxed",
      .staged = flags.staged_vars,
      .sums = {.packs = static_cast<int>(flags.gradient_repacking),
               .small = {.max_bytes = flags.agg_small_grads_max_bytes,
                         .max_group = flags.agg_small_grads_max_group},
               .buckets = {.bytes = static_cast<std::size_t>(flags.allreduce_bucket_mb) << 20U},
               .overlap = flags.overlap,
               .nccl_timeout = std::chrono::seconds(flags.nccl_timeout)},
      .timed = spec == "auto" && all_reduces(settings)};
  if (!flags.gpu_indices.empty()) {
    settings.sharing.sums.ring_order = ring_order(flags.gpu_indices, settings.towers);
  }
  settings.reduction = settings.strategy->reduction;
  if (flags.gradient_reduction) {
    settings.reduction =
        flags.gradient_reduction == "sum" ? GradientReduction::sum : GradientReduction::mean;
  }
  if (flags.hierarchical_copy) {
    settings.sharing.sums.spec = {{.algorithm = cat("hierarchical/", flags.network_topology)}};
  } else if (!spec.empty() && spec != "auto") {
    settings.sharing.sums.spec = parse_all_reduce_spec(spec, offer_of(settings));
  }
  if (all_reduces(settings)) {
    if (settings.towers > 1) {
      check_sums(settings, flags);
    }
    // A single GPU tries NCCL.
    if (!spec.empty() && (settings.towers > 1 || adds_by_nccl(settings.sharing.sums.spec))) {
      check_all_reduce_spec(spec, settings.towers, offer_of(settings));
    }
    if (adds_by_nccl(settings.sharing.sums.spec)) {
      check_nccl(settings);
      try_nccl(settings);
    } else if (settings.sharing.timed) {
      time_nccl(settings);
    } else if (spec.empty() && !flags.hierarchical_copy) {
      choose_nccl(settings);
    }
  }
  if (settings.towers == 1 || !settings.training() || !settings.reduction) {
    return;
  }
  // ResNet's own learning rate compensates for the sum.
  settings.learning_rate.summed_devices =
      settings.reduction == GradientReduction::sum ? settings.towers : 1;
}

}  // namespace bench
