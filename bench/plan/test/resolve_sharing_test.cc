#include "bench/plan/resolve_sharing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "bench/flags/table.h"
#include "bench/flags/test/usage_error.h"
#include "bench/plan/precision.h"
#include "bench/plan/resolve_settings.h"
#include "variable_mgmt/collectives/all_reduce_spec.h"

namespace bench {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

RunSettings sharing_of(std::vector<std::string_view> arguments) {
  arguments.insert(arguments.begin(), "--device=cpu");
  return resolve_settings(parse(arguments));
}

std::string sharing_refusal(const std::vector<std::string_view>& arguments) {
  return usage_error([&] { sharing_of(arguments); });
}

std::string joined(std::vector<std::string_view> arguments) {
  arguments.insert(arguments.begin(), "--num_gpus=2");
  return joined_gradients_notice(sharing_of(arguments));
}

/// The 16-bit type in which gradients are sent.
std::optional<DType> sent_in(const std::vector<std::string_view>& arguments) {
  return strategy_settings(sharing_of(arguments)).sums.narrow;
}

TEST(Sharing, TimesAlgorithmsOnlyWhereEveryTowerNeedsTheSums) {
  for (const auto& [update, timed] : {std::pair{"--variable_update=parameter_server", false},
                                      {"--variable_update=independent", false},
                                      {"--variable_update=replicated", true}}) {
    EXPECT_EQ(
        sharing_of({"--num_gpus=2", "--all_reduce_spec=auto", update}).execution.sharing.timed,
        timed)
        << update;
  }
}

TEST(Sharing, SaysTheEffectiveLearningRate) {
  EXPECT_EQ(joined({"--model=lenet", "--init_learning_rate=0.5"}),
            "the gradients of 2 devices are averaged: the effective learning rate is 0.5");
  EXPECT_EQ(
      joined({"--model=lenet", "--init_learning_rate=0.5", "--variable_update=replicated"}),
      "the gradients of 2 devices are summed: the effective learning rate is 1, 2 times that of "
      "their mean; --gradient_reduction=mean uses the mean");
  EXPECT_THAT(joined({"--model=lenet", "--piecewise_learning_rate_schedule=0.5;1;0.25",
                      "--variable_update=replicated", "--num_epochs=2"}),
              HasSubstr("is 1 at the first step and 0.5 at the last, 2 times"));
  // The rate may return to an earlier value.
  EXPECT_THAT(joined({"--model=lenet", "--piecewise_learning_rate_schedule=0.5;1;0.25;2;0.5",
                      "--num_epochs=3"}),
              HasSubstr("is 0.5 at the first step and 0.5 at the last"));
  EXPECT_THAT(
      joined({"--model=lenet", "--piecewise_learning_rate_schedule=0.5;1;0.25", "--num_batches=3"}),
      HasSubstr("is 0.5"));
  EXPECT_THAT(joined({"--model=lenet", "--optimizer=adam", "--init_learning_rate=0.5",
                      "--variable_update=replicated"}),
              HasSubstr("the learning rate is 0.5. How much larger the updates are than with "
                        "--gradient_reduction=mean depends on adam"));
  EXPECT_EQ(joined_gradients_notice(sharing_of({"--model=lenet"})), "");
}

// ResNet's rate is 0.128 for 256 images, at the end of a ramp from 0 over five epochs.
TEST(Sharing, SaysThatResnetsOwnRateMakesUpForTheSum) {
  const std::string mean = joined({"--model=resnet50", "--batch_size=128", "--num_epochs=6"});
  EXPECT_THAT(mean, HasSubstr("is 0 at the first step and 0.128 at the last"));
  const std::string sum = joined(
      {"--model=resnet50", "--batch_size=128", "--num_epochs=6", "--variable_update=replicated"});
  EXPECT_THAT(sum, HasSubstr("is 0 at the first step and 0.128 at the last, as for their mean, "
                             "because the default rate of resnet50 is divided by 2"));
  EXPECT_THAT(
      joined({"--model=resnet50", "--init_learning_rate=0.5", "--variable_update=replicated"}),
      HasSubstr("is 1, 2 times that of their mean"));
}

TEST(Sharing, RefusesPrefetchWithStagedVariables) {
  EXPECT_THAT(sharing_refusal({"--staged_vars", "--datasets_use_prefetch"}),
              HasSubstr("--staged_vars cannot be combined with --datasets_use_prefetch"));
  EXPECT_NO_THROW(sharing_of({"--staged_vars"}));
  EXPECT_NO_THROW(sharing_of({"--staged_vars", "--nodatasets_use_prefetch"}));
}

TEST(Sharing, AddsGradientsOf16BitsInF32ByDefault) {
  const std::vector<std::string_view> half{"--num_gpus=2", "--dtype=bf16",
                                           "--variable_update=replicated"};
  EXPECT_THAT(sharing_of(half).notices, Contains(HasSubstr("gradients are reduced in f32")));
  EXPECT_THAT(sharing_of({"--num_gpus=2", "--variable_update=replicated"}).notices,
              Not(Contains(HasSubstr("gradients are reduced in f32"))));
  std::vector<std::string_view> compact = half;
  compact.emplace_back("--compact_gradient_transfer");
  EXPECT_EQ(sent_in(compact), DType::bf16);
  EXPECT_EQ(compact_gradients_notice(sharing_of(compact).workload),
            "gradients are sent and added in bf16, 2 bytes per element");
  compact[1] = "--dtype=f16";
  EXPECT_THAT(compact_gradients_notice(sharing_of(compact).workload),
              HasSubstr("a sum above 65504"));
  compact.emplace_back("--fp16_enable_auto_loss_scale");
  EXPECT_EQ(compact_gradients_notice(sharing_of(compact).workload),
            "gradients are sent and added in f16, 2 bytes per element");
  compact.pop_back();
  compact.back() = "--nocompact_gradient_transfer";
  EXPECT_EQ(sent_in(compact), std::nullopt);
  EXPECT_EQ(compact_gradients_notice(sharing_of(compact).workload), "");
  for (const std::string_view elsewhere : {"--variable_update=replicated", "--use_fp16"}) {
    EXPECT_EQ(sent_in({"--num_gpus=2", elsewhere, "--compact_gradient_transfer"}), std::nullopt)
        << elsewhere;
  }
}

// --use_fp16 chooses one of the two types only when the device is known.
TEST(Sharing, SendsGradientsInTheTypeThatIsSettledLater) {
  RunSettings settings = sharing_of({"--num_gpus=2", "--use_fp16", "--variable_update=replicated",
                                     "--compact_gradient_transfer"});
  for (const DType dtype : {DType::bf16, DType::f16}) {
    Precision{.dtype = dtype, .note = ""}.apply(settings);
    EXPECT_EQ(strategy_settings(settings).sums.narrow, dtype);
    EXPECT_THAT(
        compact_gradients_notice(settings.workload),
        StartsWith(fmt::format("gradients are sent and added in {}, 2 bytes", name_of(dtype))));
  }
}

TEST(Sharing, NamesThePartThatTheTowersCannotRun) {
  const auto refused = [](std::string_view devices, std::string_view spec) {
    return sharing_refusal({"--variable_update=distributed_all_reduce", devices, spec});
  };
  EXPECT_THAT(refused("--num_gpus=2", "--all_reduce_spec=pscpu:2k:xring#3"),
              HasSubstr("--all_reduce_spec=pscpu:2k:xring#3: part 3 (character 10) is 'xring#3'; "
                        "accepted: xring with 1 to 2 shards"));
  EXPECT_THAT(refused("--num_gpus=2", "--all_reduce_spec=nccl#2"),
              HasSubstr("accepted: nccl without shards"));
  EXPECT_EQ(refused("--num_gpus=3", "--all_reduce_spec=pscpu:2k:xring#3"), "no UsageError");
  EXPECT_EQ(sharing_refusal({"--num_gpus=2", "--all_reduce_spec=pscpu#2"}), "no UsageError");
}

TEST(Sharing, HelpNamesTheAlgorithms) {
  const std::string_view help = find_flag("all_reduce_spec")->help;
  std::istringstream names(describe_algorithms({.nccl = false, .timed = false}));
  for (std::string name; std::getline(names >> std::ws, name, ',');) {
    EXPECT_THAT(std::string(help.substr(0, help.find(';'))), HasSubstr(name));
  }
}

TEST(Sharing, NamesTheAlgorithmsThatThisRunCanTake) {
  const auto refused = [](std::string_view devices, std::string_view device,
                          std::string_view spec) {
    return usage_error([&] {
      resolve_settings(parse({devices, device, "--variable_update=replicated", spec}));
    });
  };
  const std::string_view on_host = "one of xring, pscpu, psgpu, collective, shm, rechd, tree, auto";
  for (const char* spec : {"foo", "nccl", "nccl/xring"}) {
    const std::string given = fmt::format("--all_reduce_spec={}", spec);
    EXPECT_THAT(refused("--num_gpus=2", "--device=cpu", given), HasSubstr(std::string(on_host)));
  }
  EXPECT_THAT(refused("--virtual_gpus=2", "--device=gpu", "--all_reduce_spec=foo"),
              HasSubstr(std::string(on_host)));
  EXPECT_THAT(refused("--num_gpus=2", "--device=gpu", "--all_reduce_spec=foo"),
              HasSubstr("accepted: one of nccl, xring, "));
}

TEST(Sharing, NamesDevicesThatHaveNoTwoLevelsBeforeTheRun) {
  EXPECT_THAT(
      sharing_refusal({"--num_gpus=3", "--variable_update=replicated", "--hierarchical_copy"}),
      HasSubstr("--hierarchical_copy: 3 devices were given"));
  EXPECT_THAT(sharing_refusal({"--num_gpus=2", "--variable_update=replicated",
                               "--hierarchical_copy", "--network_topology=gcp_v100"}),
              HasSubstr("--network_topology=gcp_v100: needs 8 devices; 2 were given"));
}

TEST(GpuIndices, AreTheOrderOfTheRing) {
  const auto order = [](std::string_view indices) {
    return sharing_of(
               {"--num_gpus=3", "--variable_update=replicated", "--all_reduce_spec=xring", indices})
        .execution.sharing.sums.ring_order;
  };
  EXPECT_THAT(order("--gpu_indices=2,0,1"), testing::ElementsAre(2, 0, 1));
  EXPECT_THAT(order("--gpu_indices="), testing::IsEmpty());
  const auto refused_for = [&](std::string_view indices) {
    return usage_error([&] { order(indices); });
  };
  EXPECT_EQ(refused_for("--gpu_indices=0,1,3"),
            "--gpu_indices=0,1,3: '3' is not a device of this run; list the devices 0 to 2 in ring "
            "order, each once");
  EXPECT_THAT(refused_for("--gpu_indices=0,1"),
              HasSubstr("=0,1: 2 of 3 devices are listed; list the devices 0 to 2"));
  EXPECT_THAT(refused_for("--gpu_indices=0,1,0"),
              HasSubstr("0 is listed more than once; list the devices 0 to 2"));
  for (const std::string_view bad : {"--gpu_indices=0,1,x", "--gpu_indices=-1,0,1",
                                     "--gpu_indices=0,,1", "--gpu_indices=0,1,2,"}) {
    EXPECT_THAT(refused_for(bad), HasSubstr("' is not a device of this run")) << bad;
  }
}

TEST(ScalingSweep, IsRefusedForASingleNumber) {
  const auto refused_for = [](std::string_view more) {
    return usage_error([&] { sharing_of({"--scaling_sweep=1", more, "--forward_only"}); });
  };
  for (const std::string_view more : {"--dtype=int8", "--batch_size=auto", "--dtype=f32"}) {
    EXPECT_EQ(refused_for(more),
              "--scaling_sweep=1: a sweep compares at least two numbers of devices; write 1,2,4")
        << more;
  }
}

}  // namespace
}  // namespace bench
