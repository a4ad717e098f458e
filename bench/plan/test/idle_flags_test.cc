#include "bench/plan/idle_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "bench/flags/test/usage_error.h"
#include "bench/plan/resolve_settings.h"
#include "models/base/test/scratch_folder.h"

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> idle(std::vector<std::string_view> arguments) {
  arguments.insert(arguments.begin(), "--device=cpu");
  return idle_flag_notices(resolve_settings(parse(arguments)), parse(arguments));
}

TEST(IdleFlags, IncludeThoseOfOtherOptimizers) {
  EXPECT_THAT(idle({"--momentum=0.9"}), ElementsAre("--momentum: no effect with --optimizer=sgd"));
  EXPECT_THAT(idle({"--momentum=0.9", "--optimizer=momentum"}), IsEmpty());
  for (const std::string_view flag :
       {"--rmsprop_decay=0.9", "--rmsprop_momentum=0.9", "--rmsprop_epsilon=1", "--adam_beta1=0.9",
        "--adam_beta2=0.999", "--adam_epsilon=1e-8"}) {
    const bool adam = flag.starts_with("--adam");
    const std::string_view own = adam ? "--optimizer=adam" : "--optimizer=rmsprop";
    const std::string_view other = adam ? "--optimizer=rmsprop" : "--optimizer=adam";
    EXPECT_THAT(idle({flag, own}), IsEmpty());
    EXPECT_THAT(
        idle({flag, other}),
        ElementsAre(fmt::format("{}: no effect with {}", flag.substr(0, flag.find('=')), other)));
  }
  for (const std::string_view flag :
       {"--optimizer=momentum", "--momentum=0.5", "--init_learning_rate=1", "--gradient_clip=1",
        "--piecewise_learning_rate_schedule=0.1;2;0.01", "--weight_decay=0.1", "--resnet_base_lr=1",
        "--num_learning_rate_warmup_epochs=1", "--label_smoothing=0.1", "--deterministic_layers"}) {
    EXPECT_THAT(idle({"--model=resnet50", "--forward_only", flag}),
                ElementsAre(fmt::format("{}: no effect with --forward_only",
                                        flag.substr(0, flag.find('=')))));
  }
}

TEST(IdleFlags, IncludeWinogradWhereItCannotRun) {
  EXPECT_THAT(idle({"--nowinograd"}), IsEmpty());
  EXPECT_THAT(idle({"--nowinograd", "--dtype=bf16"}), IsEmpty());
  EXPECT_THAT(idle({"--nowinograd", "--dtype=f16"}), IsEmpty());
  EXPECT_THAT(idle({"--nowinograd", "--data_format=NHWC"}),
              ElementsAre("--winograd: no effect with --data_format=NHWC"));
  EXPECT_THAT(idle({"--nowinograd", "--dtype=int8", "--forward_only"}),
              ElementsAre("--winograd: no effect with --dtype=int8"));
}

TEST(IdleFlags, IncludeDenseGradientsWhereNoneIsSparse) {
  const auto idle_of = [](std::vector<std::string_view> arguments) {
    arguments.insert(arguments.begin(), {"--model=ncf", "--sparse_to_dense_grads"});
    return idle(arguments);
  };
  EXPECT_THAT(idle_of({"--weight_decay=0"}), IsEmpty());
  EXPECT_THAT(idle_of({"--weight_decay=0", "--num_gpus=2", "--variable_update=replicated"}),
              IsEmpty());
  const std::string notice = "--sparse_to_dense_grads: no effect ";
  EXPECT_THAT(idle_of({}),
              ElementsAre(notice + "without --weight_decay=0: the decay changes all rows"));
  EXPECT_THAT(idle_of({"--weight_decay=0", "--optimizer=adam"}),
              ElementsAre(notice + "with --optimizer=adam, which updates all rows"));
  EXPECT_THAT(idle_of({"--weight_decay=0", "--num_gpus=2"}),
              ElementsAre(notice + "with --variable_update=parameter_server on several devices"));
  for (const std::string model : {"lenet", "deepspeech2"}) {
    EXPECT_THAT(
        idle({"--model=" + model, "--sparse_to_dense_grads", "--weight_decay=0"}),
        ElementsAre(fmt::format("{}with --model={}, which has no embedding table", notice, model)));
  }
}

TEST(IdleFlags, IncludeThoseOfUnusedLearningRates) {
  EXPECT_THAT(idle({"--resnet_base_lr=1", "--model=resnet50"}), IsEmpty());
  EXPECT_THAT(idle({"--resnet_base_lr=1", "--model=lenet"}),
              ElementsAre("--resnet_base_lr: no effect with --model=lenet, whose learning rate "
                          "follows another rule"));
  EXPECT_THAT(idle({"--resnet_base_lr=1", "--model=resnet50", "--init_learning_rate=1"}),
              ElementsAre("--resnet_base_lr: no effect with --init_learning_rate"));
  EXPECT_THAT(idle({"--num_learning_rate_warmup_epochs=1"}),
              ElementsAre("--num_learning_rate_warmup_epochs: no effect without "
                          "--init_learning_rate or --piecewise_learning_rate_schedule"));
  EXPECT_THAT(idle({"--num_learning_rate_warmup_epochs=1", "--init_learning_rate=1"}), IsEmpty());
}

TEST(IdleFlags, IncludeNumaAffinityOnTheReferenceDevice) {
  EXPECT_THAT(idle({"--use_numa_affinity"}), IsEmpty());
  const std::vector<std::string_view> arguments{"--device=reference", "--use_numa_affinity"};
  EXPECT_THAT(idle_flag_notices(resolve_settings(parse(arguments)), parse(arguments)),
              ElementsAre("--use_numa_affinity: no effect with --device=reference"));
}

TEST(IdleFlags, IncludeThoseOfDataWithoutADataset) {
  for (const std::string_view flag :
       {"--resize_method=crop", "--nofuse_decode_and_crop", "--datasets_repeat_cached_sample",
        "--datasets_num_private_threads=2", "--datasets_use_caching",
        "--datasets_parallel_interleave_cycle_length=2", "--input_transfer=uint8", "--index_dir=/",
        "--pixel_std=1,1,1", "--datasets_sloppy_parallel_interleave"}) {
    const std::string start(flag.substr(0, flag.find('=')));
    const std::string name =
        start.starts_with("--no") ? fmt::format("--{}", start.substr(4)) : start;
    EXPECT_THAT(idle({flag}), ElementsAre(fmt::format("{}: no effect without --data_dir", name)));
  }
  const ScratchFolder folder;
  std::ofstream(folder.path() / "data_batch_1.bin") << "x";
  const std::string data = fmt::format("--data_dir={}", folder.path().string());
  EXPECT_THAT(idle({"--model=resnet20", "--data_name=cifar10", data, "--resize_method=crop",
                    "--datasets_num_private_threads=1"}),
              ElementsAre("--resize_method: no effect with --data_name=cifar10, whose images have "
                          "one size and no shards"));
  std::ofstream(folder.path() / "train-00000-of-00001") << "as long as a record";
  std::ofstream(folder.path() / "train-00000-of-00001.idx") << "0 19";
  const std::string index = fmt::format("--index_dir={}", folder.path().string());
  EXPECT_THAT(idle({"--model=lenet", "--data_name=imagenet", data, index,
                    "--datasets_sloppy_parallel_interleave"}),
              ElementsAre("--datasets_sloppy_parallel_interleave: no effect with --index_dir"));
  EXPECT_THAT(idle({"--model=lenet", "--data_name=imagenet", data,
                    "--datasets_sloppy_parallel_interleave"}),
              ElementsAre("--datasets_sloppy_parallel_interleave: no effect without --num_readers "
                          "above 1"));
}

TEST(IdleFlags, IncludePrefetchOnTheCpu) {
  const ScratchFolder folder;
  std::ofstream(folder.path() / "data_batch_1.bin") << "x";
  const std::string data = fmt::format("--data_dir={}", folder.path().string());
  for (const char* flag : {"--datasets_use_prefetch", "--nodatasets_use_prefetch"}) {
    EXPECT_THAT(idle({"--model=resnet20", "--data_name=cifar10", data, flag}),
                ElementsAre("--datasets_use_prefetch: no effect with --device=cpu, which needs "
                            "no copies of batches"));
    EXPECT_THAT(idle({flag}), ElementsAre("--datasets_use_prefetch: no effect without --data_dir"));
  }
  const std::vector<std::string_view> arguments{"--model=resnet20", "--data_name=cifar10", data,
                                                "--datasets_use_prefetch"};
  RunSettings settings = resolve_settings(parse(arguments));
  settings.execution.device = RunDevice::gpu;
  EXPECT_THAT(idle_flag_notices(settings, parse(arguments)),
              ElementsAre(HasSubstr(
                  "copies the next batch while a step runs, and the first batch before the "
                  "first step")));
}

TEST(IdleFlags, IncludeThoseOfOtherTypes) {
  EXPECT_THAT(idle({"--fp16_loss_scale=8", "--fp16_enable_auto_loss_scale"}),
              ElementsAre("--fp16_loss_scale: no effect without --use_fp16, --dtype=bf16 or "
                          "--dtype=f16",
                          "--fp16_enable_auto_loss_scale: no effect without --use_fp16, "
                          "--dtype=bf16 or --dtype=f16"));
  EXPECT_THAT(idle({"--dtype=f16", "--fp16_inc_loss_scale_every_n=5"}),
              ElementsAre("--fp16_inc_loss_scale_every_n: no effect without "
                          "--fp16_enable_auto_loss_scale"));
  EXPECT_THAT(idle({"--calibration_batches=3"}),
              ElementsAre("--calibration_batches: no effect without --dtype=int8"));
}

TEST(IdleFlags, IncludeThoseOfOtherModes) {
  EXPECT_THAT(idle({"--freeze_when_forward_only"}),
              ElementsAre("--freeze_when_forward_only: no effect without --forward_only"));
  EXPECT_THAT(idle({"--device=reference", "--num_intra_threads=1"}),
              ElementsAre("--num_intra_threads: no effect with --device=reference, which runs on "
                          "one thread"));
  EXPECT_THAT(idle({"--model=inception3", "--aux_head", "--forward_only"}),
              ElementsAre("--aux_head: no effect with --forward_only"));
}

TEST(IdleFlags, IncludeThoseOfGpusOnTheCpu) {
  for (const std::string_view flag : {"--noconv_statistics", "--noconv_prologue"}) {
    EXPECT_THAT(idle({flag}), ElementsAre(HasSubstr("no effect with --device=cpu")));
  }
  EXPECT_THAT(idle({"--sync_on_finish"}),
              ElementsAre("--sync_on_finish: no effect with --device=cpu, which runs "
                          "synchronously"));
  EXPECT_THAT(idle({"--nosync_on_finish"}), IsEmpty());
}

TEST(IdleFlags, IncludeThoseOfSeveralDevicesOnOne) {
  for (const char* flag :
       {"--local_parameter_device=cpu", "--gradient_reduction=sum", "--all_reduce_spec=xring",
        "--gradient_repacking=2", "--allreduce_bucket_mb=1"}) {
    const std::string name = std::string(flag).substr(0, std::string(flag).find('='));
    EXPECT_THAT(idle({flag, "--variable_update=replicated"}),
                ElementsAre(fmt::format("{}: no effect with only one device", name)));
  }
  EXPECT_THAT(idle({"--local_parameter_device=cpu", "--num_gpus=2"}), IsEmpty());
  EXPECT_THAT(
      idle({"--local_parameter_device=cpu", "--num_gpus=2", "--variable_update=replicated"}),
      ElementsAre(HasSubstr("where each device has its own variables")));
  EXPECT_THAT(idle({"--all_reduce_spec=xring", "--num_gpus=2"}),
              ElementsAre("--all_reduce_spec: no effect with --variable_update=parameter_server, "
                          "where the device that holds a variable adds its gradients"));
  for (const char* flag : {"--all_reduce_spec=xring", "--hierarchical_copy"}) {
    EXPECT_THAT(
        idle({flag, "--num_gpus=2", "--variable_update=independent"}),
        ElementsAre(HasSubstr(
            ": no effect with --variable_update=independent, which does not reduce gradients")));
  }
  EXPECT_THAT(idle({"--all_reduce_spec=xring", "--num_gpus=2", "--variable_update=replicated"}),
              IsEmpty());
  EXPECT_THAT(idle({"--network_topology=gcp_v100", "--num_gpus=2", "--variable_update=replicated"}),
              ElementsAre("--network_topology: no effect without --hierarchical_copy"));
}

std::vector<std::string> idle_of_replicated(std::vector<std::string_view> arguments) {
  arguments.insert(arguments.begin(), {"--num_gpus=2", "--variable_update=replicated"});
  return idle(arguments);
}

TEST(IdleFlags, IncludeThoseOfUnusedPacks) {
  EXPECT_THAT(
      idle_of_replicated({"--agg_small_grads_max_bytes=-3"}),
      ElementsAre(
          "--agg_small_grads_max_bytes: no effect with a value below 1, which packs no gradients"));
  EXPECT_THAT(idle_of_replicated({"--agg_small_grads_max_group=5"}),
              ElementsAre("--agg_small_grads_max_group: no effect without "
                          "--agg_small_grads_max_bytes above 0"));
  EXPECT_THAT(
      idle_of_replicated({"--agg_small_grads_max_group=0", "--agg_small_grads_max_bytes=4096"}),
      ElementsAre("--agg_small_grads_max_bytes: no effect with --agg_small_grads_max_group below "
                  "1"));
  EXPECT_THAT(
      idle_of_replicated({"--agg_small_grads_max_group=5", "--agg_small_grads_max_bytes=4096"}),
      IsEmpty());
  const std::string_view repacked = "no effect with --gradient_repacking, which packs all";
  EXPECT_THAT(idle_of_replicated({"--gradient_repacking=2", "--agg_small_grads_max_bytes=4096",
                                  "--agg_small_grads_max_group=5", "--allreduce_bucket_mb=1"}),
              ElementsAre(HasSubstr(fmt::format("--agg_small_grads_max_bytes: {}", repacked)),
                          HasSubstr(fmt::format("--agg_small_grads_max_group: {}", repacked)),
                          HasSubstr(fmt::format("--allreduce_bucket_mb: {}", repacked))));
  EXPECT_THAT(idle_of_replicated({"--agg_small_grads_max_bytes=4096", "--allreduce_bucket_mb=1"}),
              ElementsAre(HasSubstr("with --agg_small_grads_max_bytes, whose packs are reduced")));
  EXPECT_THAT(idle_of_replicated({"--agg_small_grads_max_bytes=4096", "--allreduce_bucket_mb=1",
                                  "--agg_small_grads_max_group=0"}),
              ElementsAre(HasSubstr("--agg_small_grads_max_bytes: no effect")));
  EXPECT_THAT(idle({"--num_gpus=2", "--variable_update=distributed_all_reduce",
                    "--all_reduce_spec=pscpu:2k:xring", "--allreduce_bucket_mb=1"}),
              ElementsAre(HasSubstr("with an --all_reduce_spec by size")));
  EXPECT_THAT(idle_of_replicated({"--allreduce_bucket_mb=1"}), IsEmpty());
}

TEST(IdleFlags, IncludeThoseOf16BitGradientsThatAreNotSent) {
  EXPECT_THAT(idle_of_replicated({"--compact_gradient_transfer"}),
              ElementsAre(HasSubstr("--compact_gradient_transfer: no effect without --use_fp16")));
  EXPECT_THAT(idle({"--compact_gradient_transfer", "--dtype=bf16"}),
              ElementsAre(HasSubstr("no effect with only one device")));
  EXPECT_THAT(
      idle({"--compact_gradient_transfer", "--dtype=bf16", "--num_gpus=2",
            "--variable_update=distributed_all_reduce"}),
      ElementsAre(HasSubstr("with --variable_update=distributed_all_reduce: it needs replicated")));
  EXPECT_THAT(idle_of_replicated({"--nocompact_gradient_transfer", "--dtype=bf16"}), IsEmpty());
  EXPECT_THAT(idle_of_replicated({"--compact_gradient_transfer", "--dtype=bf16",
                                  "--allreduce_bucket_mb=1", "--agg_small_grads_max_bytes=4096"}),
              ElementsAre(HasSubstr("--agg_small_grads_max_bytes: no effect with "
                                    "--compact_gradient_transfer: only gradients in f32")));
}

TEST(IdleFlags, OmitFlagsThatRequestNothing) {
  EXPECT_THAT(idle({"--nodistortions", "--num_learning_rate_warmup_epochs=0", "--label_smoothing=0",
                    "--forward_only", "--noaux_head", "--nodeterministic_layers"}),
              IsEmpty());
}

TEST(IdleFlags, IncludeTheDeviceOrderWithoutARing) {
  const auto idle_with = [](std::string_view spec) {
    return idle({"--num_gpus=2", "--gpu_indices=1,0", "--variable_update=replicated", spec});
  };
  EXPECT_THAT(idle_with("--all_reduce_spec=xring#2"), IsEmpty());
  EXPECT_THAT(idle_with("--all_reduce_spec=auto"), IsEmpty());
  EXPECT_THAT(idle({"--num_gpus=2", "--gpu_indices=1,0", "--variable_update=collective_all_reduce",
                    "--all_reduce_spec=collective#2"}),
              IsEmpty());
  EXPECT_THAT(idle_with("--all_reduce_spec=tree"),
              ElementsAre("--gpu_indices: no effect without xring or collective in "
                          "--all_reduce_spec, which use a ring"));
  EXPECT_THAT(idle({"--num_gpus=2", "--gpu_indices=1,0"}),
              ElementsAre(HasSubstr("--gpu_indices: no effect with --variable_update=")));
}

}  // namespace
}  // namespace bench
