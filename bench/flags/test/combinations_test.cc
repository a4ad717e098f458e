#include "bench/flags/combinations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "bench/flags/test/usage_error.h"

namespace bench {
namespace {

using testing::HasSubstr;

struct Rule {
  std::string_view message;  ///< a part of it
  std::function<void(Flags&)> broken;
};

// In the order of the original's constructor, then what it finds out later.
const std::vector<Rule>& rules() {
  static const std::vector<Rule> kRules = {
      {"must both be given", [](Flags& f) { f.learning_rate_decay_factor = 0.5; }},
      {"--minimum_learning_rate needs", [](Flags& f) { f.minimum_learning_rate = 0.1; }},
      {"--fp16_vars cannot be combined with nccl",
       [](Flags& f) {
         f.use_fp16 = f.fp16_vars = true;
         f.variable_update = "replicated";
         f.all_reduce_spec = "nccl";
       }},
      {"--fp16_vars cannot be combined with --gradient_repacking",
       [](Flags& f) {
         f.use_fp16 = f.fp16_vars = true;
         f.gradient_repacking = 2;
       }},
      {"--num_gpus must be 1",
       [](Flags& f) {
         f.variable_update = "horovod";
         f.num_gpus = 2;
       }},
      {"MPI assigns the roles",
       [](Flags& f) {
         f.variable_update = "horovod";
         f.job_name = "worker";
       }},
      {"--fp16_enable_auto_loss_scale cannot be combined with nccl",
       [](Flags& f) {
         f.use_fp16 = f.fp16_enable_auto_loss_scale = true;
         f.all_reduce_spec = "nccl/xring";
       }},
      {"--fp16_enable_auto_loss_scale needs --variable_update",
       [](Flags& f) {
         f.use_fp16 = f.fp16_enable_auto_loss_scale = true;
         f.variable_update = "distributed_replicated";
       }},
      {"--fp16_enable_auto_loss_scale needs --variable_update",
       [](Flags& f) {
         f.use_fp16 = f.fp16_enable_auto_loss_scale = true;
         f.variable_update = "distributed_all_reduce";
       }},
      {"--fp16_enable_auto_loss_scale cannot be combined with --staged_vars",
       [](Flags& f) { f.use_fp16 = f.fp16_enable_auto_loss_scale = f.staged_vars = true; }},
      {"accepted is cli or host:port", [](Flags& f) { f.debugger = "gdb"; }},
      {"accepted is cli or host:port", [](Flags& f) { f.debugger = "host:"; }},
      {"accepted is cli or host:port", [](Flags& f) { f.debugger = "host:p1"; }},
      {"--hierarchical_copy needs", [](Flags& f) { f.hierarchical_copy = true; }},
      {"--save_model_secs and --save_model_steps",
       [](Flags& f) {
         f.save_model_secs = 5;
         f.save_model_steps = 5;
       }},
      {"only one of the --eval_during_training_",
       [](Flags& f) {
         f.eval_during_training_every_n_steps = 1;
         f.eval_during_training_at_specified_epochs = {"1"};
       }},
      {"--eval cannot be combined with --eval_during",
       [](Flags& f) {
         f.eval_during_training_every_n_steps = 1;
         f.eval = true;
       }},
      {"--forward_only cannot be combined with --eval_during",
       [](Flags& f) {
         f.eval_during_training_every_n_epochs = 1;
         f.forward_only = true;
       }},
      {"--job_name cannot be combined with --eval_during",
       [](Flags& f) {
         f.eval_during_training_at_specified_steps = {"1"};
         f.job_name = "ps";
       }},
      {"--staged_vars cannot be combined with --eval_during",
       [](Flags& f) {
         f.eval_during_training_every_n_steps = 1;
         f.staged_vars = true;
       }},
      {"--stop_at_top_1_accuracy needs", [](Flags& f) { f.stop_at_top_1_accuracy = 0.5; }},
      {"--collect_eval_results_async", [](Flags& f) { f.collect_eval_results_async = true; }},
      {"--train_dir cannot be combined with --forward_only",
       [](Flags& f) {
         f.forward_only = f.freeze_when_forward_only = true;
         f.train_dir = "x";
       }},
      {"--save_variables cannot be combined with --forward_only",
       [](Flags& f) {
         f.forward_only = f.freeze_when_forward_only = true;
         f.save_variables = "x";
       }},
      {"--data_dir needs --datasets_use_prefetch",
       [](Flags& f) {
         f.forward_only = f.freeze_when_forward_only = true;
         f.data_dir = "x";
         f.datasets_use_prefetch = false;
       }},
      {"--job_name cannot be combined with --forward_only",
       [](Flags& f) {
         f.forward_only = f.freeze_when_forward_only = true;
         f.job_name = "worker";
       }},
      {"--trt_mode needs",
       [](Flags& f) {
         f.trt_mode = "FP16";
         f.forward_only = true;
       }},
      {"--forward_only and --eval exclude", [](Flags& f) { f.forward_only = f.eval = true; }},
      {"needs --controller_host",
       [](Flags& f) {
         f.variable_update = "distributed_all_reduce";
         f.job_name = "worker";
       }},
      {"more than one worker",
       [](Flags& f) {
         f.all_reduce_spec = "nccl";
         f.worker_hosts = "a:1,b:1";
       }},
      {"--num_batches and --num_epochs exclude",
       [](Flags& f) {
         f.num_batches = 1;
         f.num_epochs = 1;
       }},
      {"--num_eval_batches and --num_eval_epochs exclude",
       [](Flags& f) {
         f.num_eval_batches = 1;
         f.num_eval_epochs = 1;
       }},
      {"'2.5' is not a step number",
       [](Flags& f) {
         f.eval_during_training_at_specified_steps = {"1", "2.5"};
       }},
      {"'' is not a step number",
       [](Flags& f) {
         f.eval_during_training_at_specified_steps = {"1", ""};
       }},
      {"'x' is not a number of epochs",
       [](Flags& f) {
         f.eval_during_training_at_specified_epochs = {"1.5", "x"};
       }},
      {"--staged_vars needs --variable_update=parameter_server",
       [](Flags& f) {
         f.staged_vars = true;
         f.variable_update = "replicated";
       }},
      {"--variable_update=replicated cannot be combined with --job_name",
       [](Flags& f) {
         f.variable_update = "replicated";
         f.job_name = "worker";
       }},
      {"--variable_update=independent cannot be combined with --job_name",
       [](Flags& f) {
         f.variable_update = "independent";
         f.job_name = "worker";
       }},
      {"--variable_update=distributed_replicated needs --job_name",
       [](Flags& f) { f.variable_update = "distributed_replicated"; }},
      {"--variable_update=collective_all_reduce needs --cross_replica_sync",
       [](Flags& f) {
         f.variable_update = "collective_all_reduce";
         f.cross_replica_sync = false;
       }},
      {"takes one algorithm for all sizes",
       [](Flags& f) {
         f.variable_update = "replicated";
         f.all_reduce_spec = "pscpu:2k:xring";
       }},
      {"--variable_update=distributed_all_reduce needs --all_reduce_spec",
       [](Flags& f) { f.variable_update = "distributed_all_reduce"; }},
      {"needs the algorithm collective",
       [](Flags& f) {
         f.variable_update = "collective_all_reduce";
         f.all_reduce_spec = "xring";
       }},
      {"--piecewise_learning_rate_schedule cannot be combined",
       [](Flags& f) {
         f.piecewise_learning_rate_schedule = "1;2;3";
         f.init_learning_rate = 1;
       }},
      {"the last epoch has no rate", [](Flags& f) { f.piecewise_learning_rate_schedule = "1;2"; }},
      {"--eval needs --train_dir", [](Flags& f) { f.eval = true; }},
      {"--data_name=librispeech needs --use_datasets",
       [](Flags& f) {
         f.data_name = "librispeech";
         f.use_datasets = false;
       }},
      {"is for imagenet alone",
       [](Flags& f) {
         f.data_name = "cifar10";
         f.input_preprocessor = "official_models_imagenet";
       }},
      {"--network_topology=gcp_v100 needs --num_gpus=8",
       [](Flags& f) {
         f.hierarchical_copy = true;
         f.num_gpus = 4;
         f.network_topology = "gcp_v100";
       }},
      {"--per_gpu_thread_count cannot be combined",
       [](Flags& f) {
         f.gpu_thread_mode = "global";
         f.per_gpu_thread_count = 2;
       }},
      {"--init_from_partial needs --init_from", [](Flags& f) { f.init_from_partial = true; }},
      {"--input_file and --data_dir exclude each other",
       [](Flags& f) {
         f.input_file = "x";
         f.data_dir = "imagenet";
       }},
      {"leave --save_variables out",
       [](Flags& f) {
         f.dump_tensors = "x";
         f.save_variables = "y";
       }},
      {"leave --result_file out",
       [](Flags& f) {
         f.dump_tensors = "x";
         f.result_file = "y";
       }},
      {"--verify measures nothing",
       [](Flags& f) {
         f.verify = "model";
         f.profile = true;
       }},
      {"--verify has values, images, a plan and an end of its own",
       [](Flags& f) {
         f.verify = "all";
         f.max_seconds = 1;
       }},
      {"--dump measures nothing",
       [](Flags& f) {
         f.dump = {"graph"};
         f.trace_file = "x";
       }},
      {"leave --dump_tensors and --save_variables out",
       [](Flags& f) {
         f.dump = {"graph"};
         f.dump_tensors = "x";
       }},
      {"leave --dump_tensors and --save_variables out",
       [](Flags& f) {
         f.dump = {"plan"};
         f.save_variables = "x";
       }},
      {"--batch_size=auto cannot be combined with --verify",
       [](Flags& f) {
         f.batch_size = "auto";
         f.verify = "model";
       }},
      {"--batch_size=max cannot be combined with --dump,",
       [](Flags& f) {
         f.batch_size = "max";
         f.dump = {"plan"};
       }},
      {"--batch_size=auto cannot be combined with --choices_file",
       [](Flags& f) {
         f.batch_size = "auto";
         f.choices_file = "x";
       }},
      {"--batch_size=8,16 cannot be combined with --dump_tensors",
       [](Flags& f) {
         f.batch_size = "8,16";
         f.dump_tensors = "x";
       }},
      {"--batch_size=auto cannot be combined with --input_file",
       [](Flags& f) {
         f.batch_size = "auto";
         f.input_file = "x";
       }},
      {"an empty item is no batch size", [](Flags& f) { f.batch_size = "8,"; }},
      {"--backbone_model_path", [](Flags& f) { f.backbone_model_path = "x"; }},
      {"--ml_perf_compliance_logging", [](Flags& f) { f.ml_perf_compliance_logging = true; }},
  };
  return kRules;
}

std::string broken(const std::function<void(Flags&)>& breaks) {
  Flags flags;
  breaks(flags);
  return usage_error([&] { validate(flags); });
}

TEST(Validate, FindsEveryRuleBroken) {
  for (const Rule& rule : rules()) {
    EXPECT_THAT(broken(rule.broken), HasSubstr(std::string(rule.message)));
  }
}

TEST(Validate, ReportsTheFirstBrokenRuleInOrder) {
  // Pairs that can be broken together: the earlier one is reported.
  const auto both = [](std::string_view first, std::string_view second) {
    return broken([&](Flags& flags) {
      for (const Rule& rule : rules()) {
        if (rule.message == first || rule.message == second) {
          rule.broken(flags);
        }
      }
    });
  };
  EXPECT_THAT(both("must both be given", "--hierarchical_copy needs"),
              HasSubstr("must both be given"));
  EXPECT_THAT(both("--hierarchical_copy needs", "--num_batches and --num_epochs exclude"),
              HasSubstr("--hierarchical_copy needs"));
  EXPECT_THAT(both("--stop_at_top_1_accuracy needs", "--trt_mode needs"),
              HasSubstr("--stop_at_top_1_accuracy needs"));
  EXPECT_THAT(both("--forward_only and --eval exclude", "--num_batches and --num_epochs exclude"),
              HasSubstr("--forward_only and --eval exclude"));
  EXPECT_THAT(both("--num_batches and --num_epochs exclude", "--eval needs --train_dir"),
              HasSubstr("--num_batches and --num_epochs exclude"));
}

TEST(Validate, AcceptsTheDefaults) { EXPECT_NO_THROW(validate({})); }

TEST(Validate, AcceptsNchwOnTheCpu) {
  EXPECT_NO_THROW(validate({.device = "cpu", .data_format = "NCHW", .mkl = false}));
}

TEST(Validate, AcceptsWhatTheOriginalAccepts) {
  const auto accepts = [](const std::function<void(Flags&)>& set) {
    return broken(set) == "no UsageError";
  };
  EXPECT_TRUE(accepts([](Flags& f) { f.debugger = "cli"; }));
  EXPECT_TRUE(accepts([](Flags& f) { f.debugger = "localhost:6064"; }));
  EXPECT_TRUE(accepts([](Flags& f) {
    f.hierarchical_copy = true;
    f.num_gpus = 8;
    f.network_topology = "gcp_v100";
  }));
  EXPECT_TRUE(accepts([](Flags& f) {
    f.fp16_vars = true;  // without use_fp16 it says nothing
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
  EXPECT_TRUE(accepts([](Flags& f) {
    f.variable_update = "distributed_replicated";
    f.job_name = "worker";
  }));
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
