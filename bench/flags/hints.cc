#include "bench/flags/hints.h"

#include <array>

#include "bench/flags/table.h"
#include "models/base/text.h"

namespace bench {
namespace {

struct FlagHint {
  std::string_view words;  ///< separated by blanks
  std::string_view flags;  ///< separated by blanks
};

constexpr std::array kFlagHints = {
    FlagHint{"a arch architecture net network m", "--model"},
    FlagHint{"b bs batch batchsize minibatch mini_batch_size batch_size_per_gpu "
             "per_device_batch_size train_batch_size",
             "--batch_size"},
    FlagHint{"steps n_steps num_steps max_steps train_steps num_train_steps iters iterations "
             "num_iters n_iter niter num_iterations num_bench_iter batches",
             "--num_batches"},
    FlagHint{"epochs epoch n_epochs nepochs max_epochs train_epochs", "--num_epochs"},
    FlagHint{"warmup warm_up warmup_steps num_warmup num_warmup_steps warmup_iters num_warm_iter "
             "warmup_batches",
             "--num_warmup_batches"},
    FlagHint{"warmup_epochs lr_warmup_epochs", "--num_learning_rate_warmup_epochs"},
    FlagHint{"duration seconds time timeout max_time time_limit", "--max_seconds"},
    FlagHint{"inference infer infer_only predict evaluate eval_only forward no_train",
             "--forward_only"},
    FlagHint{"lr learning_rate base_lr initial_lr init_lr", "--init_learning_rate"},
    FlagHint{"cosine polynomial lr_schedule lr_scheduler", "--learning_rate_schedule"},
    FlagHint{"opt optim", "--optimizer"},
    FlagHint{"wd l2 weightdecay", "--weight_decay"},
    FlagHint{"clip_grad grad_clip clip_grad_norm max_grad_norm", "--gradient_clip"},
    FlagHint{"smoothing", "--label_smoothing"},
    FlagHint{"amp autocast mixed_precision amp_dtype", "--use_fp16 --dtype=bf16"},
    FlagHint{"fp16 float16 half", "--use_fp16 --dtype=f16"},
    FlagHint{"bf16 bfloat16", "--dtype=bf16"},
    FlagHint{"fp32 float32 f32 tf32", "--dtype=f32"},
    FlagHint{"allow_tf32", "--use_tf32"},
    FlagHint{"fp64 float64 f64 double", "--dtype=f64"},
    FlagHint{"int8 quantize quantized", "--dtype=int8"},
    FlagHint{"precision data_type type compute_dtype", "--dtype"},
    FlagHint{"loss_scale", "--fp16_loss_scale"},
    FlagHint{"gpus ngpu ngpus n_gpus gpu_count nproc_per_node devices num_devices", "--num_gpus"},
    FlagHint{"cpu no_cuda", "--device=cpu"},
    FlagHint{"gpu cuda accelerator backend platform", "--device"},
    FlagHint{"channels_last nhwc", "--data_format=NHWC"},
    FlagHint{"channels_first nchw", "--data_format=NCHW"},
    FlagHint{"layout memory_format image_data_format", "--data_format"},
    FlagHint{"t threads nthreads n_threads num_threads num_cores cores intra_op_threads "
             "intra_op_parallelism_threads num_intra_op_threads omp_num_threads",
             "--num_intra_threads"},
    FlagHint{"inter_op_parallelism_threads num_inter_op_threads inter_threads",
             "--num_inter_threads"},
    FlagHint{"j workers num_workers nworkers dataloader_workers", "--datasets_num_private_threads"},
    FlagHint{"seed s random_seed manual_seed", "--tf_random_seed"},
    FlagHint{"data data_path datadir dataset_dir root", "--data_dir"},
    FlagHint{"dataset dataset_name", "--data_name --data_dir"},
    FlagHint{"classes n_classes nb_classes", "--num_classes"},
    FlagHint{"img_size imgsize input_size resolution res image_shape crop_size size",
             "--image_size"},
    FlagHint{"print_freq log_interval log_every log_steps log_every_n_steps log_freq p",
             "--display_every"},
    FlagHint{"weights pretrained initial_checkpoint load", "--init_from"},
    FlagHint{"resume checkpoint ckpt restore checkpoint_dir ckpt_dir save_dir model_dir logdir",
             "--train_dir"},
    FlagHint{"save save_model", "--save_variables --train_dir"},
    FlagHint{"save_checkpoint_steps checkpoint_every save_every", "--save_model_steps"},
    FlagHint{"stop_at_accuracy target_accuracy", "--stop_at_top_1_accuracy"},
    FlagHint{"eval_every_n_steps eval_every eval_interval", "--eval_during_training_every_n_steps"},
    FlagHint{"o out output output_dir output_file results results_file json log_file csv",
             "--result_file"},
    FlagHint{"trace profiler profile_file trace_dir timeline", "--trace_file --profile"},
    FlagHint{"p50 p90 p99 percentile percentiles latencies", "--latency"},
    FlagHint{"check test validate", "--verify"},
    FlagHint{"list models list_archs list_networks", "--list_models"},
    FlagHint{"replay_choices choices replay load_choices", "--choices_file"},
    FlagHint{"tune tuning cudnn_benchmark", "--autotune"},
    FlagHint{"v", "--version"},
};

struct NoFlagHint {
  std::string_view words;  ///< separated by blanks
  std::string_view why;
};

constexpr std::array kNoFlagHints = {
    NoFlagHint{"compile torch_compile torchcompile torchscript jit",
               "every network is planned and fused before it runs: omit it"},
    NoFlagHint{
        "bench mode train training",
        "a run measures training, or inference with --forward_only; to measure both, run twice"},
};

struct ValueHint {
  std::string_view flag;
  std::string_view words;  ///< separated by blanks
  std::string_view value;
};

constexpr std::array kValueHints = {
    ValueHint{"dtype", "torch.float16 torch.half", "f16"},
    ValueHint{"dtype", "bfloat torch.bfloat16 amp mixed", "bf16"},
    ValueHint{"dtype", "float single full tf32 torch.float32", "f32"},
    ValueHint{"dtype", "double torch.float64", "f64"},
    ValueHint{"dtype", "i8 s8 u8 uint8 qint8 quint8 quantized torch.qint8", "int8"},
    ValueHint{"data_format", "channels_last", "NHWC"},
    ValueHint{"data_format", "channels_first", "NCHW"},
    ValueHint{"data_format", "any best default", "auto"},
    ValueHint{"device", "cuda nvidia gpu:0 cuda:0", "gpu"},
    ValueHint{"device", "x86 host cpu:0 onednn mkl", "cpu"},
    ValueHint{"optimizer", "nesterov sgd_momentum sgdm", "momentum"},
    ValueHint{"data_name", "cifar", "cifar10"},
    ValueHint{"data_name", "ilsvrc ilsvrc2012 imagenet1k in1k", "imagenet"},
    ValueHint{"plan_for", "7.5 75 turing t4", "sm_75"},
    ValueHint{"plan_for", "8.0 80 ampere a100", "sm_80"},
    ValueHint{"plan_for", "8.6 86 a10 a40 rtx3090", "sm_86"},
    ValueHint{"plan_for", "8.7 87 orin", "sm_87"},
    ValueHint{"plan_for", "8.9 89 ada l4 l40 l40s rtx4090", "sm_89"},
    ValueHint{"plan_for", "9.0 90 hopper h100 h200 gh200", "sm_90"},
    ValueHint{"plan_for", "10.0 100 blackwell b200 gb200", "sm_100"},
    ValueHint{"plan_for", "10.3 103 b300 gb300", "sm_103"},
    ValueHint{"plan_for", "11.0 110 thor", "sm_110"},
    ValueHint{"plan_for", "12.0 120 rtx5090", "sm_120"},
    ValueHint{"plan_for", "12.1 121 spark gb10", "sm_121"},
};

bool has_word(std::string_view words, std::string_view word) {
  for (const std::string_view one : split_words(words)) {
    if (equal_in_any_case(one, word)) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<std::string_view> flags_meant_by(std::string_view word) {
  for (const FlagHint& hint : kFlagHints) {
    if (has_word(hint.words, word)) {
      return split_words(hint.flags);
    }
  }
  return {};
}

std::string_view why_no_flag(std::string_view word) {
  for (const NoFlagHint& hint : kNoFlagHints) {
    if (has_word(hint.words, word)) {
      return hint.why;
    }
  }
  return "";
}

std::string_view value_meant_by(std::string_view flag, std::string_view word) {
  for (const ValueHint& hint : kValueHints) {
    if (hint.flag == flag && has_word(hint.words, word)) {
      return hint.value;
    }
  }
  return "";
}

}  // namespace bench
