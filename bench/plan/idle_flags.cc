#include "bench/plan/idle_flags.h"

#include <array>

#include "bench/flags/combinations.h"
#include "bench/flags/table.h"
#include "bench/plan/idle_data_flags.h"
#include "bench/plan/network.h"
#include "models/base/errors.h"

namespace bench {
namespace {

// Each function returns what makes a flag idle ("with --forward_only"), or "" if it has an effect.

std::string with_this_device(const Asked& asked) {
  return fmt::format("with --device={}", name_of(asked.settings.execution.device));
}

std::string unless_training(const Asked& asked) {
  return asked.settings.workload.training() ? ""
         : asked.flags.eval                 ? "with --eval"
                                            : "with --forward_only";
}

std::string unless_saved(const Asked& asked) {
  const std::string idle = unless_training(asked);
  return !idle.empty() || asked.flags.train_dir ? idle : "without --train_dir";
}

std::string unless_events(const Asked& asked) {
  const Flags& flags = asked.flags;
  const std::string idle = unless_saved(asked);
  return !idle.empty()                     ? idle
         : flags.summary_verbosity == 0    ? "without --summary_verbosity"
         : flags.save_summaries_steps == 0 ? "without --save_summaries_steps"
                                           : "";
}

std::string if_only_evaluated(const Asked& asked) { return asked.flags.eval ? "with --eval" : ""; }

std::string unless_checkpoints_are_evaluated(const Asked& asked) {
  return asked.flags.eval && asked.flags.train_dir ? "" : "without --eval and --train_dir";
}

std::string unless_evaluated(const Asked& asked) {
  return asked.flags.eval || asked.settings.evaluation.during_training()
             ? ""
             : "without --eval or --eval_during_training_...";
}

std::string unless_forward_only(const Asked& asked) {
  return asked.settings.workload.training() ? "without --forward_only" : "";
}

std::string unless_optimizer(const Asked& asked, std::string_view name) {
  const std::string idle = unless_training(asked);
  const std::string& optimizer = asked.flags.optimizer;
  return !idle.empty() || optimizer == name ? idle : fmt::format("with --optimizer={}", optimizer);
}

std::string unless_lars(const Asked& asked) { return unless_optimizer(asked, "lars"); }

std::string unless_momentum(const Asked& asked) {
  return unless_lars(asked).empty() ? "" : unless_optimizer(asked, "momentum");
}

std::string unless_rmsprop(const Asked& asked) { return unless_optimizer(asked, "rmsprop"); }

std::string unless_adam(const Asked& asked) { return unless_optimizer(asked, "adam"); }

std::string unless_polynomial(const Asked& asked) {
  const std::string idle = unless_training(asked);
  const std::string& schedule = asked.flags.learning_rate_schedule;
  return !idle.empty() || schedule == "polynomial"
             ? idle
             : fmt::format("with --learning_rate_schedule={}", schedule);
}

std::string unless_rate_is_given(const Asked& asked) {
  const Flags& flags = asked.flags;
  const std::string idle = unless_training(asked);
  const bool given = flags.init_learning_rate || flags.piecewise_learning_rate_schedule;
  return !idle.empty() || given
             ? idle
             : "without --init_learning_rate or --piecewise_learning_rate_schedule";
}

std::string unless_resnets_own_rate(const Asked& asked) {
  const Flags& flags = asked.flags;
  if (const std::string idle = unless_training(asked); !idle.empty()) {
    return idle;
  }
  if (asked.settings.workload.model->rate != ModelRate::resnet) {
    return fmt::format("with --model={}, whose learning rate follows another rule",
                       asked.settings.workload.model->name);
  }
  return flags.init_learning_rate                 ? "with --init_learning_rate"
         : flags.piecewise_learning_rate_schedule ? "with --piecewise_learning_rate_schedule"
                                                  : "";
}

std::string unless_16_bits(const Asked& asked) {
  const std::string idle = unless_training(asked);
  return !idle.empty() || asks_for_16_bits(asked.flags)
             ? idle
             : "without --use_fp16, --dtype=bf16 or --dtype=f16";
}

std::string unless_auto_loss_scale(const Asked& asked) {
  const std::string idle = unless_16_bits(asked);
  return !idle.empty() || asked.flags.fp16_enable_auto_loss_scale
             ? idle
             : "without --fp16_enable_auto_loss_scale";
}

std::string unless_int8(const Asked& asked) {
  return asked.settings.workload.int8 ? "" : "without --dtype=int8";
}

std::string unless_gpu(const Asked& asked) {
  return asked.settings.execution.device == RunDevice::gpu ? "" : with_this_device(asked);
}

std::string unless_horovod(const Asked& asked) {
  const std::string_view strategy = asked.settings.workload.strategy->name;
  return strategy == "horovod" ? unless_training(asked)
                               : fmt::format("with --variable_update={}", strategy);
}

std::string unless_f32(const Asked& asked) {
  const Workload& workload = asked.settings.workload;
  return workload.int8                  ? "with --dtype=int8"
         : workload.choose_half         ? "with --use_fp16"
         : workload.dtype == DType::f32 ? ""
                                        : fmt::format("with --dtype={}", name_of(workload.dtype));
}

std::string unless_gpu_in_f32(const Asked& asked) {
  const std::string idle = unless_gpu(asked);
  return idle.empty() ? unless_f32(asked) : idle;
}

std::string unless_gpu_trains(const Asked& asked) {
  const std::string idle = unless_gpu(asked);
  return idle.empty() ? unless_training(asked) : idle;
}

std::string unless_statistics_are_given(const Asked& asked) {
  if (const std::string idle = unless_gpu_trains(asked); !idle.empty()) {
    return idle;
  }
  return !asked.settings.execution.gpu.conv_statistics         ? "with --conv_statistics=false"
         : asked.settings.execution.format == DataFormat::nchw ? "with --data_format=NCHW"
                                                               : "";
}

std::string if_steps_end_finished(const Asked& asked) {
  return fmt::format("with --device={}, which runs synchronously",
                     name_of(asked.settings.execution.device));
}

std::string unless_cpu(const Asked& asked) {
  return asked.settings.execution.device == RunDevice::cpu ? "" : with_this_device(asked);
}

std::string unless_winograd(const Asked& asked) {
  if (const std::string idle = unless_cpu(asked); !idle.empty()) {
    return idle;
  }
  const DataFormat format = asked.settings.execution.format;
  if (format != DataFormat::automatic) {
    return fmt::format("with --data_format={}", name_of(format));
  }
  return asked.settings.workload.int8 ? "with --dtype=int8" : "";
}

std::string unless_threads(const Asked& asked) {
  switch (asked.settings.execution.device) {
    case RunDevice::reference:
      return "with --device=reference, which runs on one thread";
    case RunDevice::gpu:
      return "with --device=gpu, which does not compute on CPU threads";
    case RunDevice::cpu:
      break;
  }
  return "";
}

std::string unless_several_train(const Asked& asked) {
  const std::string idle = unless_training(asked);
  return !idle.empty() || asked.settings.workload.all_towers() > 1 ? idle : "with only one device";
}

std::string unless_variables_are_shared(const Asked& asked) {
  const std::string idle = unless_several_train(asked);
  return !idle.empty() || asked.flags.variable_update == "parameter_server"
             ? idle
             : fmt::format("with --variable_update={}, where each device has its own variables",
                           asked.flags.variable_update);
}

std::string unless_sums_are_everywhere(const Asked& asked) {
  const std::string idle = unless_several_train(asked);
  const std::string& update = asked.flags.variable_update;
  if (!idle.empty() || (update != "parameter_server" && update != "independent")) {
    return idle;
  }
  return update == "independent"
             ? "with --variable_update=independent, which does not reduce gradients"
             : "with --variable_update=parameter_server, where the device that holds a variable "
               "adds "
               "its gradients";
}

std::string unless_sent_in_16_bits(const Asked& asked) {
  for (const std::string& idle : {unless_16_bits(asked), unless_several_train(asked)}) {
    if (!idle.empty()) {
      return idle;
    }
  }
  const std::string& update = asked.flags.variable_update;
  return update == "replicated"
             ? ""
             : fmt::format("with --variable_update={}: it needs replicated", update);
}

std::string unless_gradients_are_sparse(const Asked& asked) {
  const std::string idle = unless_training(asked);
  return idle.empty() ? why_gradients_are_dense(asked.settings) : idle;
}

/// For flags that decide which gradients are added together, which packing all gradients replaces.
std::string unless_gradients_stay_apart(const Asked& asked) {
  if (const std::string idle = unless_sums_are_everywhere(asked); !idle.empty()) {
    return idle;
  }
  return asked.flags.gradient_repacking > 0 ? "with --gradient_repacking, which packs all gradients"
                                            : "";
}

/// For flags about packs of small gradients, which require f32.
std::string unless_small_may_be_packed(const Asked& asked) {
  if (const std::string idle = unless_gradients_stay_apart(asked); !idle.empty()) {
    return idle;
  }
  return asked.settings.workload.compact
             ? "with --compact_gradient_transfer: only gradients in f32 are packed"
             : "";
}

std::string unless_small_are_packed(const Asked& asked) {
  if (const std::string idle = unless_small_may_be_packed(asked); !idle.empty()) {
    return idle;
  }
  return asked.flags.agg_small_grads_max_bytes < 0
             ? "with a value below 1, which packs no gradients"
         : asked.flags.agg_small_grads_max_group <= 0 ? "with --agg_small_grads_max_group below 1"
                                                      : "";
}

std::string unless_packs_are_bounded(const Asked& asked) {
  if (const std::string idle = unless_small_may_be_packed(asked); !idle.empty()) {
    return idle;
  }
  return asked.flags.agg_small_grads_max_bytes > 0 ? ""
                                                   : "without --agg_small_grads_max_bytes above 0";
}

std::string unless_added_in_buckets(const Asked& asked) {
  if (const std::string idle = unless_gradients_stay_apart(asked); !idle.empty()) {
    return idle;
  }
  if (asked.flags.agg_small_grads_max_bytes > 0 && asked.flags.agg_small_grads_max_group > 0 &&
      !asked.settings.workload.compact) {
    return "with --agg_small_grads_max_bytes, whose packs are reduced instead";
  }
  return asked.flags.all_reduce_spec.value_or("").find(':') != std::string::npos
             ? "with an --all_reduce_spec by size, which reduces whole gradients"
             : "";
}

std::string unless_all_reduced(const Asked& asked) {
  // A single GPU may still try NCCL.
  const bool tries_nccl = asked.settings.execution.device == RunDevice::gpu &&
                          asked.flags.all_reduce_spec == "nccl" &&
                          all_reduces(asked.settings.workload);
  return tries_nccl ? "" : unless_sums_are_everywhere(asked);
}

std::string unless_nccl_adds(const Asked& asked) {
  const std::string idle = unless_all_reduced(asked);
  if (!idle.empty()) {
    return idle;
  }
  return asked.settings.execution.device == RunDevice::gpu
             ? ""
             : fmt::format("with --device={}, which NCCL does not support",
                           name_of(asked.settings.execution.device));
}

std::string unless_hierarchical(const Asked& asked) {
  const std::string idle = unless_sums_are_everywhere(asked);
  return !idle.empty() || asked.flags.hierarchical_copy ? idle : "without --hierarchical_copy";
}

std::string unless_in_a_ring(const Asked& asked) {
  if (const std::string idle = unless_sums_are_everywhere(asked); !idle.empty()) {
    return idle;
  }
  const std::string spec = asked.flags.all_reduce_spec.value_or("");
  return spec == "auto" || spec.find("xring") != std::string::npos ||
                 spec.find("collective") != std::string::npos
             ? ""
             : "without xring or collective in --all_reduce_spec, which use a ring";
}

struct Rule {
  std::string_view flag;
  std::string (*idle)(const Asked&);
};

constexpr std::array kRules = {
    Rule{"freeze_when_forward_only", unless_forward_only},
    Rule{"sync_on_finish", if_steps_end_finished},
    Rule{"num_intra_threads", unless_threads},
    Rule{"use_numa_affinity", unless_cpu},
    Rule{"resize_method", unless_original_pixels},
    Rule{"input_preprocessor", unless_imagenet},
    Rule{"ml_perf", unless_original_pixels},
    Rule{"distortions", unless_distorted},
    Rule{"distort_color_in_yiq", unless_colors_change},
    Rule{"fuse_decode_and_crop", unless_jpegs},
    Rule{"jpeg_dct", unless_dct_is_chosen},
    Rule{"pixel_mean", unless_imagenet},
    Rule{"pixel_std", unless_imagenet},
    Rule{"index_dir", unless_jpegs},
    Rule{"num_readers", unless_shards},
    Rule{"datasets_sloppy_parallel_interleave", unless_several_read},
    Rule{"on_bad_record", unless_records},
    Rule{"max_bad_records", unless_bad_records_are_skipped},
    Rule{"max_image_pixels", unless_jpegs},
    Rule{"datasets_repeat_cached_sample", unless_records},
    Rule{"datasets_use_prefetch", if_nothing_is_copied_ahead},
    Rule{"datasets_num_private_threads", unless_records},
    Rule{"datasets_use_caching", unless_records},
    Rule{"datasets_parallel_interleave_cycle_length", unless_interleaved},
    Rule{"multi_device_iterator_max_buffer_size", unless_records},
    Rule{"horovod_device", unless_horovod},
    Rule{"gpu_memory_frac_for_testing", unless_gpu},
    Rule{"eval_interval_secs", unless_checkpoints_are_evaluated},
    Rule{"eval_dir", unless_evaluated},
    Rule{"num_warmup_batches", if_only_evaluated},
    Rule{"batch_group_size", if_only_evaluated},
    Rule{"print_training_accuracy", if_only_evaluated},
    Rule{"save_model_secs", unless_saved},
    Rule{"save_model_steps", unless_saved},
    Rule{"max_ckpts_to_keep", unless_saved},
    Rule{"summary_verbosity", unless_events},
    Rule{"save_summaries_steps", unless_events},
    Rule{"eval_batch_size", unless_evaluated},
    Rule{"num_eval_batches", unless_evaluated},
    Rule{"num_eval_epochs", unless_evaluated},
    Rule{"optimizer", unless_training},
    Rule{"init_learning_rate", unless_training},
    Rule{"piecewise_learning_rate_schedule", unless_training},
    Rule{"num_epochs_per_decay", unless_training},
    Rule{"learning_rate_decay_factor", unless_training},
    Rule{"minimum_learning_rate", unless_training},
    Rule{"num_learning_rate_warmup_epochs", unless_rate_is_given},
    Rule{"resnet_base_lr", unless_resnets_own_rate},
    Rule{"momentum", unless_momentum},
    Rule{"lars_trust_coefficient", unless_lars},
    Rule{"lars_epsilon", unless_lars},
    Rule{"learning_rate_schedule", unless_training},
    Rule{"learning_rate_power", unless_polynomial},
    Rule{"rmsprop_decay", unless_rmsprop},
    Rule{"rmsprop_momentum", unless_rmsprop},
    Rule{"rmsprop_epsilon", unless_rmsprop},
    Rule{"adam_beta1", unless_adam},
    Rule{"adam_beta2", unless_adam},
    Rule{"adam_epsilon", unless_adam},
    Rule{"gradient_clip", unless_training},
    Rule{"weight_decay", unless_training},
    Rule{"sparse_to_dense_grads", unless_gradients_are_sparse},
    Rule{"fp16_loss_scale", unless_16_bits},
    Rule{"fp16_enable_auto_loss_scale", unless_16_bits},
    Rule{"fp16_inc_loss_scale_every_n", unless_auto_loss_scale},
    Rule{"aux_head", unless_training},
    Rule{"label_smoothing", unless_training},
    Rule{"local_parameter_device", unless_variables_are_shared},
    Rule{"gradient_reduction", unless_several_train},
    Rule{"all_reduce_spec", unless_all_reduced},
    Rule{"agg_small_grads_max_bytes", unless_small_are_packed},
    Rule{"agg_small_grads_max_group", unless_packs_are_bounded},
    Rule{"compact_gradient_transfer", unless_sent_in_16_bits},
    Rule{"gradient_repacking", unless_sums_are_everywhere},
    Rule{"hierarchical_copy", unless_sums_are_everywhere},
    Rule{"network_topology", unless_hierarchical},
    Rule{"gpu_indices", unless_in_a_ring},
    Rule{"allreduce_bucket_mb", unless_added_in_buckets},
    Rule{"overlap", unless_sums_are_everywhere},
    Rule{"nccl_timeout", unless_nccl_adds},
    Rule{"staged_vars", unless_training},
    Rule{"variable_consistency", unless_training},
    Rule{"calibration_batches", unless_int8},
    Rule{"deterministic_layers", unless_training},
    Rule{"use_tf32", unless_gpu_in_f32},
    Rule{"cuda_graph", unless_gpu},
    Rule{"winograd", unless_winograd},
    Rule{"conv_statistics", unless_gpu_trains},
    Rule{"conv_prologue", unless_statistics_are_given},
    Rule{"input_transfer", unless_data},
};

/// True if the value is the default, and the default is false or 0.
bool asks_for_nothing(const results::FlagValue& value) {
  return value == results::FlagValue(false) || value == results::FlagValue(std::int64_t{0}) ||
         value == results::FlagValue(0.0);
}

}  // namespace

std::vector<std::string> idle_flag_notices(const RunSettings& settings, const ParseResult& parsed) {
  const auto defaults = flag_values(Flags{});
  const auto values = flag_values(parsed.flags);
  const auto is_asked_for = [&](std::string_view flag) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i].first == flag) {
        return values[i] != defaults[i] || !asks_for_nothing(values[i].second);
      }
    }
    throw InternalError(fmt::format("idle flags: a rule names the unknown flag {}", flag));
  };
  std::vector<std::string> notices;
  for (const Rule& rule : kRules) {
    if (!parsed.given.contains(rule.flag) || !is_asked_for(rule.flag)) {
      continue;
    }
    if (const std::string idle = rule.idle({.settings = settings, .flags = parsed.flags});
        !idle.empty()) {
      notices.push_back(fmt::format("--{}: no effect {}", rule.flag, idle));
    }
  }
  return notices;
}

}  // namespace bench
