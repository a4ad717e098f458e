#include "bench/flags/combinations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "bench/flags/test/usage_error.h"

namespace bench {
namespace {

using testing::HasSubstr;
using testing::Not;

struct BrokenRule {
  std::string_view message;  ///< a part of it
  std::vector<std::string_view> broken_by;
};

// In the order of the original's constructor, followed by what it detects later.
const std::vector<BrokenRule> kRules = {
    {"measures inference on synthetic images", {"--latency", "--eval", "--init_from=x"}},
    {"omit --noforward_only", {"--latency", "--noforward_only"}},
    {"measures one device: omit --num_gpus=2", {"--latency", "--num_gpus=2"}},
    {"measures one device: omit --np and --hosts", {"--latency", "--np=2"}},
    {"--batch_size=auto is for throughput", {"--latency", "--batch_size=auto"}},
    {"must both be given", {"--learning_rate_decay_factor=0.5"}},
    {"--minimum_learning_rate needs", {"--minimum_learning_rate=0.1"}},
    {"--fp16_vars cannot be combined with nccl",
     {"--use_fp16", "--fp16_vars", "--variable_update=replicated", "--all_reduce_spec=nccl"}},
    {"--fp16_vars cannot be combined with --gradient_repacking",
     {"--use_fp16", "--fp16_vars", "--gradient_repacking=2"}},
    {"--num_gpus must be 1", {"--variable_update=horovod", "--num_gpus=2"}},
    {"distributed_replicated needs --ps_hosts", {"--variable_update=distributed_replicated"}},
    {"where processes exchange nothing",
     {"--predict_ranks=8", "--forward_only", "--variable_update=horovod"}},
    {"predicts an all-reduce", {"--predict_ranks=8"}},
    {"--ps_hosts needs --worker_hosts", {"--ps_hosts=a:1"}},
    {"only --variable_update=parameter_server and distributed_replicated",
     {"--ps_hosts=a:1", "--worker_hosts=a:2", "--variable_update=horovod"}},
    {"all copies of a variable must be equal",
     {"--variable_update=distributed_replicated", "--ps_hosts=a:1", "--worker_hosts=a:2",
      "--cross_replica_sync=false"}},
    {"--cross_replica_sync=false needs --ps_hosts", {"--cross_replica_sync=false"}},
    {"which updates no variables", {"--ps_hosts=a:1", "--worker_hosts=a:2", "--forward_only"}},
    {"--fp16_enable_auto_loss_scale cannot be combined with nccl",
     {"--use_fp16", "--fp16_enable_auto_loss_scale", "--all_reduce_spec=nccl/xring"}},
    {"--fp16_enable_auto_loss_scale cannot be combined with --staged_vars",
     {"--dtype=bf16", "--fp16_enable_auto_loss_scale", "--staged_vars"}},
    {"--optimizer=lars scales whole layers", {"--optimizer=lars", "--gradient_clip=1"}},
    {"torchvision works only with --eval", {"--input_preprocessor=torchvision", "--forward_only"}},
    {"replace --train_dir with --init_from",
     {"--input_preprocessor=torchvision", "--eval", "--train_dir=x"}},
    {"is for imagenet, not --data_name=cifar10",
     {"--input_preprocessor=torchvision", "--eval", "--init_from=x", "--data_name=cifar10"}},
    {"add --forward_only or --eval", {"--dtype=int8"}},
    {"--micro_batch needs --forward_only", {"--micro_batch=4"}},
    {"--micro_batch=16 must divide --batch_size=32,8",
     {"--micro_batch=16", "--forward_only", "--batch_size=32,8"}},
    {"replace max with a number in --batch_size",
     {"--micro_batch=4", "--forward_only", "--batch_size=max"}},
    {"--verify checks small batches", {"--micro_batch=4", "--forward_only", "--verify"}},
    {"computes the whole batch", {"--micro_batch=4", "--forward_only", "--dump_tensors=x"}},
    {"expected cli or host:port", {"--debugger=gdb"}},
    {"expected cli or host:port", {"--debugger=host:"}},
    {"expected cli or host:port", {"--debugger=host:p1"}},
    {"--save_model_secs and --save_model_steps", {"--save_model_secs=5", "--save_model_steps=5"}},
    {"only one of the --eval_during_training_",
     {"--eval_during_training_every_n_steps=1", "--eval_during_training_at_specified_epochs=1"}},
    {"--eval cannot be combined with --eval_during",
     {"--eval_during_training_every_n_steps=1", "--eval"}},
    {"--forward_only cannot be combined with --eval_during",
     {"--eval_during_training_every_n_epochs=1", "--forward_only"}},
    {"--staged_vars cannot be combined with --eval_during",
     {"--eval_during_training_every_n_steps=1", "--staged_vars"}},
    {"--collect_eval_results_async is only for", {"--collect_eval_results_async"}},
    {"--train_dir cannot be combined with --forward_only",
     {"--forward_only", "--freeze_when_forward_only", "--train_dir=x"}},
    {"--save_variables cannot be combined with --forward_only",
     {"--forward_only", "--freeze_when_forward_only", "--save_variables=x"}},
    {"--data_dir needs --datasets_use_prefetch",
     {"--forward_only", "--freeze_when_forward_only", "--data_dir=x", "--nodatasets_use_prefetch"}},
    {"--forward_only and --eval are mutually exclusive", {"--forward_only", "--eval"}},
    {"--num_batches and --num_epochs are mutually exclusive",
     {"--num_batches=1", "--num_epochs=1"}},
    {"--num_eval_batches and --num_eval_epochs are mutually exclusive",
     {"--num_eval_batches=1", "--num_eval_epochs=1"}},
    {"'2.5' is not a step number", {"--eval_during_training_at_specified_steps=1,2.5"}},
    {"'' is not a step number", {"--eval_during_training_at_specified_steps=1,"}},
    {"'x' is not a number of epochs", {"--eval_during_training_at_specified_epochs=1.5,x"}},
    {"accepts one algorithm for all sizes, not --all_reduce_spec=pscpu:2k:xring; to choose by "
     "size, "
     "use --variable_update=distributed_all_reduce",
     {"--variable_update=replicated", "--all_reduce_spec=pscpu:2k:xring"}},
    {"--init_from_partial needs --init_from", {"--init_from_partial"}},
    {"--backbone_model_path and --init_from are mutually exclusive",
     {"--model=ssd300", "--backbone_model_path=x", "--init_from=y"}},
    {"--input_file and --data_dir are mutually exclusive",
     {"--input_file=x", "--data_dir=imagenet"}},
    {"--eval_interval_secs=60 evaluates until Ctrl-C: omit --repeats",
     {"--eval", "--train_dir=x", "--eval_interval_secs=60", "--repeats=3"}},
    {"--eval_interval_secs=60 evaluates until Ctrl-C",
     {"--eval", "--train_dir=x", "--eval_interval_secs=60", "--until_ci=1%"}},
    {"--eval_interval_secs=60 evaluates until Ctrl-C",
     {"--eval", "--train_dir=x", "--eval_interval_secs=60", "--scaling_sweep=1,2"}},
    {"omit --save_variables", {"--dump_tensors=x", "--save_variables=y"}},
    {"omit --dump_tensors and --save_variables", {"--dump=graph", "--dump_tensors=x"}},
    {"omit --dump_tensors and --save_variables", {"--dump=plan", "--save_variables=x"}},
    {"--dump=choices prints only the file for --choices_file", {"--dump=choices,plan"}},
    {"a choices file is for one plan", {"--dump=fusions", "--choices_file=x"}},
    {"--choices_file takes the kernels from its file: omit --autotune=full",
     {"--choices_file=x", "--autotune=full"}},
    {"--autotune and --max_seconds", {"--verify", "--autotune=off"}},
    {"--verify measures nothing: omit --profile", {"--verify", "--profile"}},
    {"--dump measures nothing: omit --trace_file", {"--dump=graph", "--trace_file=x"}},
    {"--dump_tensors measures nothing: omit --result_file",
     {"--dump_tensors=x", "--result_file=y"}},
    {"--verify sets values, images, plan and duration: omit --init_from",
     {"--verify=all", "--max_seconds=1"}},
    {"--batch_size=auto cannot be combined with --verify", {"--batch_size=auto", "--verify"}},
    {"--batch_size=max cannot be combined with --dump,", {"--batch_size=max", "--dump=plan"}},
    {"--batch_size=auto cannot be combined with --dump,",
     {"--batch_size=auto", "--dump=plan", "--plan_for=sm_90"}},
    {"--batch_size=8,16 cannot be combined with --dump_tensors",
     {"--batch_size=8,16", "--dump_tensors=x"}},
    {"--batch_size=auto cannot be combined with --choices_file",
     {"--batch_size=auto", "--choices_file=x"}},
    {"--batch_size=auto cannot be combined with --input_file",
     {"--batch_size=auto", "--input_file=x"}},
    {"--piecewise_learning_rate_schedule cannot be combined",
     {"--piecewise_learning_rate_schedule=1;2;3", "--init_learning_rate=1"}},
    {"the last epoch has no rate", {"--piecewise_learning_rate_schedule=1;2"}},
    {"is only for imagenet",
     {"--data_name=cifar10", "--input_preprocessor=official_models_imagenet"}},
    {"--per_gpu_thread_count cannot be combined",
     {"--gpu_thread_mode=global", "--per_gpu_thread_count=2"}},
    {"--backbone_model_path is only for", {"--backbone_model_path=x"}},
    {"--ml_perf_compliance_logging is only for", {"--ml_perf_compliance_logging"}},
    {"--variable_update=replicated cannot be combined with --staged_vars",
     {"--staged_vars", "--variable_update=replicated"}},
    {"--variable_update=parameter_server cannot be combined with --variable_consistency=relaxed",
     {"--variable_consistency=relaxed"}},
    {"--variable_update=independent does not reduce gradients",
     {"--variable_update=independent", "--gradient_reduction=sum"}},
    {"--summary_verbosity=2 records gradients, but with --variable_update=parameter_server",
     {"--summary_verbosity=2", "--virtual_gpus=2"}},
    {"--dtype=int8 cannot be combined with --data_format=NCHW",
     {"--dtype=int8", "--forward_only", "--data_format=NCHW"}},
    {"omit --save_variables", {"--staged_vars", "--save_variables=x"}},
    {"may have a different scale",
     {"--dtype=f16", "--fp16_enable_auto_loss_scale", "--variable_update=replicated",
      "--variable_consistency=relaxed"}},
    {"--hierarchical_copy needs several devices", {"--hierarchical_copy"}},
    {"--hierarchical_copy and --all_reduce_spec are mutually exclusive",
     {"--num_gpus=2", "--hierarchical_copy", "--all_reduce_spec=xring"}},
    {"--virtual_gpus and --num_gpus are mutually exclusive", {"--virtual_gpus=2", "--num_gpus=2"}},
    {"cannot be combined with --device=cpu", {"--virtual_gpus=2", "--device=cpu"}},
    {"--num_gpus=2 cannot be combined with --dump_tensors, which uses one device",
     {"--num_gpus=2", "--dump_tensors=x"}},
    {"--num_gpus=2 cannot be combined with --batch_size=auto",
     {"--num_gpus=2", "--batch_size=auto"}},
    {"--scaling_sweep=1,2 cannot be combined with --batch_size=auto",
     {"--scaling_sweep=1,2", "--batch_size=auto"}},
    {"--variable_update=horovod has one device per process: omit --virtual_gpus=2",
     {"--variable_update=horovod", "--virtual_gpus=2"}},
    {"which needs an even number of devices: remove 1 from the sweep",
     {"--hierarchical_copy", "--scaling_sweep=1,2"}},
    {"which needs an even number of devices: remove 3 from the sweep",
     {"--hierarchical_copy", "--scaling_sweep=2,3"}},
    {"accepts only --all_reduce_spec=collective, not xring",
     {"--variable_update=collective_all_reduce", "--all_reduce_spec=xring"}},
    {"accepts only --all_reduce_spec=collective, not collective:2k:collective",
     {"--variable_update=collective_all_reduce", "--all_reduce_spec=collective:2k:collective"}},
};

TEST(Validate, ReportsEveryBrokenRule) {
  for (const BrokenRule& rule : kRules) {
    EXPECT_THAT(refusal(rule.broken_by), HasSubstr(std::string(rule.message)));
  }
}

TEST(Validate, AsksForNothingElseIfAFlagIsRefused) {
  for (const std::string_view flag : {"--tfprof_file=x", "--trt_mode=FP16"}) {
    EXPECT_THAT(refusal({flag}), Not(HasSubstr("need"))) << flag;
    EXPECT_THAT(refusal({flag}), HasSubstr("not applicable")) << flag;
  }
}

TEST(Validate, ReportsTheFirstBrokenRuleInOrder) {
  EXPECT_THAT(refusal({"--learning_rate_decay_factor=0.5", "--num_batches=1", "--num_epochs=1"}),
              HasSubstr("must both be given"));
  EXPECT_THAT(refusal({"--forward_only", "--eval", "--num_batches=1", "--num_epochs=1"}),
              HasSubstr("--forward_only and --eval are mutually exclusive"));
  EXPECT_THAT(refusal({"--num_batches=1", "--num_epochs=1", "--gpu_thread_mode=global",
                       "--per_gpu_thread_count=2"}),
              HasSubstr("--num_batches and --num_epochs are mutually exclusive"));
}

TEST(Validate, ReportsAConflictDespiteARefusedFlag) {
  EXPECT_THAT(refusal({"--xla", "--num_batches=1", "--num_epochs=1"}),
              HasSubstr("are mutually exclusive; give only one. Also: --xla: not applicable"));
}

std::string broken(const std::function<void(Flags&)>& breaks) {
  Flags flags;
  breaks(flags);
  return usage_error([&] { validate(flags, read_batch_request(flags.batch_size)); });
}

TEST(Validate, AcceptsTheDefaults) { EXPECT_NO_THROW(validate({}, {})); }

TEST(Validate, AcceptsNchwOnTheCpu) {
  EXPECT_NO_THROW(validate({.device = "cpu", .data_format = "NCHW", .mkl = false}, {}));
}

TEST(Validate, AcceptsWhatTheOriginalAccepts) {
  const auto accepts = [](const std::function<void(Flags&)>& set) {
    return broken(set) == "no UsageError";
  };
  EXPECT_TRUE(accepts([](Flags& f) { f.debugger = "cli"; }));
  EXPECT_TRUE(accepts([](Flags& f) { f.debugger = "localhost:6064"; }));
  EXPECT_TRUE(accepts([](Flags& f) {
    f.fp16_vars = true;  // it has no effect without use_fp16
    f.gradient_repacking = 2;
  }));
  EXPECT_TRUE(accepts([](Flags& f) {
    f.forward_only = f.freeze_when_forward_only = true;
    f.trt_mode = "FP16";
    f.data_dir = "x";
  }));
  EXPECT_TRUE(accepts([](Flags& f) { f.save_model_steps = 5; }));
  EXPECT_TRUE(accepts([](Flags& f) {
    f.eval_during_training_at_specified_steps = {"2", "3", "1000"};
    f.stop_at_top_1_accuracy = 0.5;
  }));
  EXPECT_TRUE(accepts([](Flags& f) {
    f.variable_update = "distributed_all_reduce";
    f.all_reduce_spec = "pscpu:2k:xring";
  }));
  EXPECT_TRUE(accepts([](Flags& f) {
    f.variable_update = "collective_all_reduce";
    f.all_reduce_spec = "collective#2";
  }));
}

TEST(Validate, LetsASweepOfEvenNumbersCopyInTwoLevels) {
  EXPECT_NO_THROW(parse({"--scaling_sweep=2", "--hierarchical_copy"}));
  EXPECT_NO_THROW(parse({"--scaling_sweep=2,4", "--hierarchical_copy"}));
}

// One process adds like `replicated`, whichever strategy is requested; the original refuses them.
TEST(Validate, AcceptsAnAutomaticLossScaleWithOneProcess) {
  for (const char* update :
       {"--variable_update=distributed_all_reduce", "--variable_update=collective_all_reduce",
        "--variable_update=horovod"}) {
    EXPECT_NO_THROW(parse({"--use_fp16", "--fp16_enable_auto_loss_scale", update})) << update;
  }
}

TEST(LearningRateRequest, CarriesTheFlags) {
  const LearningRateRequest request = learning_rate_request(
      parse({"--init_learning_rate=0.5", "--num_epochs_per_decay=2",
             "--learning_rate_decay_factor=0.25", "--minimum_learning_rate=0.125",
             "--num_learning_rate_warmup_epochs=3"})
          .flags);
  EXPECT_EQ(request.init_learning_rate, 0.5);
  EXPECT_EQ(request.num_epochs_per_decay, 2);
  EXPECT_EQ(request.decay_factor, 0.25);
  EXPECT_EQ(request.minimum_learning_rate, 0.125);
  EXPECT_EQ(request.num_warmup_epochs, 3);
  EXPECT_EQ(request.piecewise_schedule, std::nullopt);
}

}  // namespace
}  // namespace bench
