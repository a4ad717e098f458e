#include "bench/flags/combinations.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "bench/flags/batch_request.h"
#include "bench/flags/table.h"
#include "models/base/errors.h"

namespace bench {
namespace {

void refuse_if(bool excluded, std::string_view message) {
  if (excluded) {
    throw UsageError(std::string(message));
  }
}

void missing_if(bool missing, std::string_view message) {
  if (missing) {
    throw MissingFlag(std::string(message));
  }
}

bool is_distributed(const Flags& flags) { return !flags.job_name.empty(); }

bool reduces_with_nccl(const Flags& flags) {
  return flags.all_reduce_spec && flags.all_reduce_spec->find("nccl") != std::string::npos;
}

int evaluations_during_training(const Flags& flags) {
  return int{flags.eval_during_training_every_n_steps.has_value()} +
         int{flags.eval_during_training_every_n_epochs.has_value()} +
         int{!flags.eval_during_training_at_specified_steps.empty()} +
         int{!flags.eval_during_training_at_specified_epochs.empty()};
}

void check_fp16_variables(const Flags& flags) {
  if (!flags.use_fp16 || !flags.fp16_vars) {
    return;
  }
  refuse_if(
      flags.variable_update.find("replicated") != std::string::npos && reduces_with_nccl(flags),
      "--fp16_vars cannot be combined with nccl in --all_reduce_spec when --variable_update "
      "is replicated or distributed_replicated");
  refuse_if(flags.gradient_repacking != 0,
            "--fp16_vars cannot be combined with --gradient_repacking");
}

void check_horovod(const Flags& flags) {
  if (flags.variable_update != "horovod") {
    return;
  }
  refuse_if(flags.scaling_sweep.has_value(),
            "--variable_update=horovod has one device per process: omit --scaling_sweep");
  refuse_if(flags.num_gpus > 1,
            "--variable_update=horovod has one device per process: --num_gpus must be 1");
  refuse_if(
      flags.virtual_gpus > 1,
      fmt::format("--variable_update=horovod has one device per process: omit --virtual_gpus={}",
                  flags.virtual_gpus));
  refuse_if(is_distributed(flags),
            "--variable_update=horovod cannot be combined with --job_name: MPI assigns the roles");
}

void check_auto_loss_scale(const Flags& flags) {
  if (!asks_for_16_bits(flags) || !flags.fp16_enable_auto_loss_scale) {
    return;
  }
  refuse_if(reduces_with_nccl(flags),
            "--fp16_enable_auto_loss_scale cannot be combined with nccl in --all_reduce_spec");
  refuse_if(flags.staged_vars,
            "--fp16_enable_auto_loss_scale cannot be combined with --staged_vars");
  refuse_if(flags.variable_consistency == "relaxed",
            "--fp16_enable_auto_loss_scale cannot be combined with --variable_consistency=relaxed: "
            "the previous step's gradients may have a different scale");
}

/// The flag that requests several devices, as the user wrote it.
std::string devices_asked(const Flags& flags, bool sweeps) {
  if (sweeps) {
    return fmt::format("--scaling_sweep={}", *flags.scaling_sweep);
  }
  return flags.virtual_gpus > 0 ? fmt::format("--virtual_gpus={}", flags.virtual_gpus)
                                : fmt::format("--num_gpus={}", flags.num_gpus);
}

/// Checks runs on several devices of this host.
void check_towers(const Flags& flags) {
  if (flags.virtual_gpus > 0) {
    refuse_if(flags.num_gpus > 1,
              "--virtual_gpus and --num_gpus are mutually exclusive; give only one");
    refuse_if(
        flags.device && flags.device != "gpu",
        fmt::format("--virtual_gpus puts towers on a GPU and cannot be combined with --device={}",
                    flags.device.value_or("")));
  }
  // A sweep with a single number of devices is refused for that reason.
  const bool sweeps = flags.scaling_sweep && flags.scaling_sweep->find(',') != std::string::npos;
  if (flags.num_gpus == 1 && flags.virtual_gpus <= 1 && !sweeps) {
    return;
  }
  const std::string asked = devices_asked(flags, sweeps);
  for (const auto& [name, given] :
       {std::pair<std::string_view, bool>{"--dump_tensors", flags.dump_tensors.has_value()},
        {"--dtype=int8", flags.dtype == "int8"}}) {
    refuse_if(given,
              fmt::format("{} cannot be combined with {}, which uses one device: omit one of them",
                          asked, name));
  }
  const BatchRequest request = read_batch_request(flags.batch_size);
  refuse_if(request.rule == BatchRequest::Rule::fastest,
            fmt::format("{} cannot be combined with --batch_size=auto, which tries batches on one "
                        "device: give a batch size",
                        asked));
}

void check_debugger(const Flags& flags) {
  if (!flags.debugger || *flags.debugger == "cli") {
    return;
  }
  const std::size_t colon = flags.debugger->find(':');
  const bool host_and_port =
      colon != std::string::npos && colon > 0 && colon + 1 < flags.debugger->size() &&
      flags.debugger->find_first_not_of("0123456789", colon + 1) == std::string::npos;
  refuse_if(!host_and_port,
            fmt::format("--debugger={}: expected cli or host:port", *flags.debugger));
}

void check_evaluation_during_training(const Flags& flags) {
  const int ways = evaluations_during_training(flags);
  refuse_if(ways > 1, "only one of the --eval_during_training_... flags can be given");
  if (ways == 1) {
    refuse_if(flags.eval, "--eval cannot be combined with --eval_during_training_...");
    refuse_if(flags.forward_only,
              "--forward_only cannot be combined with --eval_during_training_...");
    refuse_if(is_distributed(flags),
              "--job_name cannot be combined with --eval_during_training_...");
    refuse_if(flags.staged_vars,
              "--staged_vars cannot be combined with --eval_during_training_...");
  }
  refuse_if(flags.collect_eval_results_async && flags.model != "ssd300",
            "--collect_eval_results_async is only for --model=ssd300");
}

void check_frozen(const Flags& flags) {
  if (!flags.forward_only || !flags.freeze_when_forward_only) {
    return;
  }
  refuse_if(flags.train_dir.has_value(),
            "--train_dir cannot be combined with --forward_only --freeze_when_forward_only");
  refuse_if(flags.save_variables.has_value(),
            "--save_variables cannot be combined with --forward_only --freeze_when_forward_only: "
            "the folded network has different variables");
  missing_if(flags.data_dir && !flags.datasets_use_prefetch,
             "--data_dir needs --datasets_use_prefetch with --forward_only "
             "--freeze_when_forward_only");
  refuse_if(is_distributed(flags),
            "--job_name cannot be combined with --forward_only --freeze_when_forward_only");
}

template <class T>
void check_numbers(std::string_view flag, const std::vector<std::string>& list, T least) {
  const std::string_view expected = std::is_integral_v<T> ? "a step number" : "a number of epochs";
  for (const std::string& text : list) {
    T number{};
    const char* end = text.data() + text.size();
    const auto [read, error] = std::from_chars(text.data(), end, number);
    refuse_if(error != std::errc() || read != end || !std::isfinite(static_cast<double>(number)) ||
                  number < least,
              fmt::format("--{}: '{}' is not {}", flag, text, expected));
  }
}

void check_counts(const Flags& flags) {
  refuse_if(flags.num_batches && flags.num_epochs,
            "--num_batches and --num_epochs are mutually exclusive; give only one");
  refuse_if(flags.num_eval_batches && flags.num_eval_epochs,
            "--num_eval_batches and --num_eval_epochs are mutually exclusive; give only one");
  check_numbers<std::int64_t>("eval_during_training_at_specified_steps",
                              flags.eval_during_training_at_specified_steps, 0);
  check_numbers<double>("eval_during_training_at_specified_epochs",
                        flags.eval_during_training_at_specified_epochs, 0);
}

/// Checks --hierarchical_copy with each number of devices in a sweep. Another check reports entries
/// that are not numbers.
void check_swept_halves(const std::string& sweep) {
  for (const std::string& word : split_text(sweep, ',')) {
    int devices = 0;
    const char* end = word.data() + word.size();
    const auto [read, error] = std::from_chars(word.data(), end, devices);
    refuse_if(
        error == std::errc() && read == end && devices % 2 != 0,
        fmt::format("--scaling_sweep={} cannot be combined with --hierarchical_copy, which needs "
                    "an even number of devices: remove {} from the sweep",
                    sweep, word));
  }
}

void check_variable_update(const Flags& flags) {
  const std::string& update = flags.variable_update;
  refuse_if((update == "replicated" || update == "independent") && is_distributed(flags),
            fmt::format("--variable_update={} cannot be combined with --job_name", update));
  refuse_if(flags.staged_vars && update != "parameter_server",
            fmt::format("--variable_update={} cannot be combined with --staged_vars, which needs "
                        "--variable_update=parameter_server",
                        update));
  refuse_if(
      flags.variable_consistency == "relaxed" && update != "replicated",
      fmt::format(
          "--variable_update={} cannot be combined with --variable_consistency=relaxed, which "
          "needs --variable_update=replicated",
          update));
  refuse_if(flags.staged_vars && flags.save_variables,
            "--staged_vars computes with the previous step's variables: omit --save_variables");
  refuse_if(flags.gradient_reduction && update == "independent",
            fmt::format("--variable_update={} does not reduce gradients: omit --gradient_reduction",
                        update));
  if (flags.hierarchical_copy && flags.scaling_sweep) {
    check_swept_halves(*flags.scaling_sweep);
  } else {
    refuse_if(flags.hierarchical_copy && flags.num_gpus == 1 && flags.virtual_gpus <= 1,
              "--hierarchical_copy needs several devices: give --num_gpus");
  }
  refuse_if(flags.hierarchical_copy && !flags.all_reduce_spec.value_or("").empty(),
            "--hierarchical_copy and --all_reduce_spec are mutually exclusive; give only one");
  const std::string spec = flags.all_reduce_spec.value_or("");
  refuse_if(update == "replicated" && spec.find(':') != std::string::npos,
            fmt::format("--variable_update={} accepts one algorithm for all sizes, not "
                        "--all_reduce_spec={}; to choose by size, use "
                        "--variable_update=distributed_all_reduce",
                        update, spec));
  refuse_if(
      update == "collective_all_reduce" && !spec.empty() &&
          (spec.substr(0, spec.find('#')) != "collective" || spec.find(':') != std::string::npos),
      fmt::format(
          "--variable_update={} accepts only --all_reduce_spec=collective, not {}; omit it, or "
          "use --variable_update=distributed_all_reduce",
          update, spec));
}

// Checks what the original detects only after its constructor.
void check_late(const Flags& flags) {
  check_piecewise(learning_rate_request(flags));
  refuse_if(flags.input_preprocessor == "official_models_imagenet" && flags.data_name &&
                flags.data_name != "imagenet",
            "--input_preprocessor=official_models_imagenet is only for imagenet");
  refuse_if(flags.gpu_thread_mode == "global" && flags.per_gpu_thread_count > 0,
            "--per_gpu_thread_count cannot be combined with --gpu_thread_mode=global");
  refuse_if(flags.backbone_model_path && flags.model != "ssd300",
            "--backbone_model_path is only for --model=ssd300");
  refuse_if(
      flags.ml_perf_compliance_logging && flags.model != "resnet50_v1.5" && flags.model != "ssd300",
      "--ml_perf_compliance_logging is only for --model=resnet50_v1.5 and --model=ssd300");
}

void check_tensor_files(const Flags& flags) {
  missing_if(flags.init_from_partial && !flags.init_from, "--init_from_partial needs --init_from");
  refuse_if(flags.input_file && flags.data_dir,
            "--input_file and --data_dir are mutually exclusive; give only one");
  refuse_if(flags.dump_tensors && flags.save_variables,
            "--dump_tensors ends the run before any update: omit --save_variables");
  refuse_if(!flags.dump.empty() && (flags.dump_tensors || flags.save_variables),
            "--dump ends the run before its first step: omit --dump_tensors and --save_variables");
}

void check_dump(const Flags& flags) {
  const bool choices =
      std::find(flags.dump.begin(), flags.dump.end(), "choices") != flags.dump.end();
  refuse_if(choices && flags.dump.size() > 1,
            "--dump=choices prints only the file for --choices_file: omit the other dumps");
  const bool fusions =
      std::find(flags.dump.begin(), flags.dump.end(), "fusions") != flags.dump.end();
  refuse_if(
      fusions && flags.choices_file.has_value(),
      "--dump=fusions plans the network without each fusion in turn, but a choices file is for one "
      "plan: omit --choices_file");
}

void check_autotune(const Flags& flags) {
  refuse_if(flags.choices_file && flags.autotune && flags.autotune != "off",
            fmt::format("--choices_file takes the kernels from its file: omit --autotune={}",
                        flags.autotune.value_or("")));
}

/// --verify, --dump and --dump_tensors end the program without a measured run.
void check_unmeasured(const Flags& flags) {
  const std::string_view ends = flags.verify          ? "--verify"
                                : flags.dump_tensors  ? "--dump_tensors"
                                : !flags.dump.empty() ? "--dump"
                                                      : "";
  if (ends.empty()) {
    return;
  }
  refuse_if(flags.profile, fmt::format("{} measures nothing: omit --profile", ends));
  refuse_if(!flags.trace_file.empty(), fmt::format("{} measures nothing: omit --trace_file", ends));
  refuse_if(flags.result_file.has_value(),
            fmt::format("{} measures nothing: omit --result_file", ends));
  refuse_if(flags.benchmark_log_dir.has_value(),
            fmt::format("{} measures nothing: omit --benchmark_log_dir", ends));
  if (flags.verify) {
    refuse_if(
        flags.init_from || flags.input_file || flags.data_dir || flags.save_variables ||
            flags.dump_tensors || !flags.dump.empty() || flags.choices_file || flags.autotune ||
            flags.max_seconds,
        "--verify sets values, images, plan and duration: omit --init_from, --input_file, "
        "--data_dir, --save_variables, --dump_tensors, --dump, --choices_file, --autotune and "
        "--max_seconds");
  }
}

/// Checks a list of batches and a batch that is unknown before the run.
void check_batch(const Flags& flags) {
  const BatchRequest request = read_batch_request(flags.batch_size);
  if (request.fixed()) {
    return;
  }
  // The largest batch for a card is found by planning, and only its plan is printed.
  const bool planned = request.rule == BatchRequest::Rule::largest && flags.plan_for;
  for (const auto& [name, given] :
       {std::pair<std::string_view, bool>{"--verify", flags.verify.has_value()},
        {"--dump", !flags.dump.empty() && !planned},
        {"--dump_tensors", flags.dump_tensors.has_value()}}) {
    refuse_if(given, fmt::format(
                         "--batch_size={} cannot be combined with {}, which measures nothing: give "
                         "one batch size",
                         flags.batch_size, name));
  }
  refuse_if(flags.choices_file.has_value(),
            fmt::format(
                "--batch_size={} cannot be combined with --choices_file, whose choices are for one "
                "batch size: give that size",
                flags.batch_size));
  refuse_if(request.rule != BatchRequest::Rule::list && flags.input_file.has_value(),
            fmt::format(
                "--batch_size={} cannot be combined with --input_file, which holds whole batches: "
                "give a batch size",
                flags.batch_size));
}

}  // namespace

LearningRateRequest learning_rate_request(const Flags& flags) {
  return {.init_learning_rate = flags.init_learning_rate,
          .piecewise_schedule = flags.piecewise_learning_rate_schedule,
          .num_epochs_per_decay = flags.num_epochs_per_decay,
          .decay_factor = flags.learning_rate_decay_factor,
          .minimum_learning_rate = flags.minimum_learning_rate,
          .num_warmup_epochs = flags.num_learning_rate_warmup_epochs};
}

bool asks_for_16_bits(const Flags& flags) {
  return flags.use_fp16 || flags.dtype == "bf16" || flags.dtype == "f16";
}

void validate(const Flags& flags) {
  check_decay(learning_rate_request(flags));
  check_fp16_variables(flags);
  check_horovod(flags);
  check_auto_loss_scale(flags);
  check_debugger(flags);
  refuse_if(flags.save_model_secs != 0 && flags.save_model_steps,
            "--save_model_secs and --save_model_steps are mutually exclusive; give only one");
  check_evaluation_during_training(flags);
  check_frozen(flags);
  refuse_if(flags.forward_only && flags.eval, "--forward_only and --eval are mutually exclusive");
  refuse_if(reduces_with_nccl(flags) && split_text(flags.worker_hosts, ',').size() > 1,
            "nccl in --all_reduce_spec cannot reduce over more than one worker");
  check_counts(flags);
  check_variable_update(flags);
  check_towers(flags);
  check_tensor_files(flags);
  check_dump(flags);
  check_autotune(flags);
  check_unmeasured(flags);
  check_batch(flags);
  check_late(flags);
}

}  // namespace bench
