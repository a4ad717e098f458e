#include "bench/plan/resolve_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "bench/flags/table.h"
#include "bench/plan/input.h"
#include "bench/plan/network.h"
#include "bench/plan/precision.h"
#include "bench/plan/test/settings_for.h"
#include "kernels/reference/reference_backend.h"
#include "models/base/test/scratch_folder.h"
#include "models/ir/op.h"
#include "models/ops/loss.h"

namespace bench {
namespace {

using testing::HasSubstr;

TEST(Settings, FillInTheModelsAndTheDatasetsDefaults) {
  const RunSettings settings = settings_for({"--model=resnet50"});
  EXPECT_EQ(settings.workload.model->name, "resnet50");
  EXPECT_EQ(settings.workload.dataset->name, "imagenet");
  EXPECT_EQ(settings.execution.device, RunDevice::cpu);
  EXPECT_EQ(settings.execution.device_label, "cpu");
  EXPECT_EQ(settings.execution.format, DataFormat::automatic);
  EXPECT_EQ(settings.workload.batch, settings.workload.model->default_batch);
  EXPECT_EQ(settings.workload.num_classes, 1001);
  EXPECT_EQ(settings.execution.warmup.num_batches, 10);
  EXPECT_EQ(settings.execution.steps.num_batches, 100);
  EXPECT_EQ(settings.workload.learning_rate.model, ModelRate::resnet);
  EXPECT_EQ(settings_for({"--model=lenet"}).workload.learning_rate.model, ModelRate::constant);
  EXPECT_EQ(settings_for({"--model=nasnet"}).workload.learning_rate.model, ModelRate::constant);
  EXPECT_EQ(row_of(settings.workload.optimizer.rule).name, "sgd");
  EXPECT_TRUE(settings.workload.training());
  EXPECT_TRUE(settings.workload.synthetic());
  EXPECT_FALSE(settings.workload.accuracies());
}

TEST(Settings, DivideTheRateOfNetworksWithoutBatchNormForSyntheticImages) {
  constexpr double kDivisor = 127.5 * 127.5;
  for (const char* model : {"--model=alexnet", "--model=squeezenet1_1", "--model=vgg11"}) {
    const RunSettings settings = settings_for({model});
    EXPECT_EQ(settings.workload.learning_rate.model_divisor, kDivisor) << model;
    EXPECT_THAT(settings.notices, Contains(HasSubstr("has no batch norm"))) << model;
    EXPECT_EQ(
        settings_for({model, "--init_learning_rate=0.01"}).workload.learning_rate.model_divisor, 1);
    EXPECT_EQ(settings_for({model, "--input_file=x"}).workload.learning_rate.model_divisor, 1);
  }
  EXPECT_EQ(settings_for({"--model=resnet50"}).workload.learning_rate.model_divisor, 1);
}

TEST(Settings, TakeTheCoefficientsOfTheOptimizer) {
  const auto rmsprop =
      std::get<RmspropRule>(settings_for({"--optimizer=rmsprop", "--rmsprop_decay=0.5",
                                          "--rmsprop_momentum=0.25", "--rmsprop_epsilon=2"})
                                .workload.optimizer.rule);
  EXPECT_EQ(rmsprop.decay, 0.5);
  EXPECT_EQ(rmsprop.momentum, 0.25);
  EXPECT_EQ(rmsprop.epsilon, 2);
  const auto adam = std::get<AdamRule>(settings_for({"--optimizer=adam", "--adam_beta1=0.5",
                                                     "--adam_beta2=0.25", "--adam_epsilon=2"})
                                           .workload.optimizer.rule);
  EXPECT_EQ(adam.beta1, 0.5);
  EXPECT_EQ(adam.beta2, 0.25);
  EXPECT_EQ(adam.epsilon, 2);
}

TEST(Settings, HaveTheOptimizersAndTheDefaultsOfTheKernels) {
  for (const OptimizerRow& row : all_optimizers()) {
    EXPECT_EQ(
        row_of(settings_for({fmt::format("--optimizer={}", row.name)}).workload.optimizer.rule)
            .name,
        row.name);
  }
  const Flags flags;
  EXPECT_EQ(flags.momentum, MomentumRule{}.momentum);
  EXPECT_EQ(flags.rmsprop_decay, RmspropRule{}.decay);
  EXPECT_EQ(flags.rmsprop_momentum, RmspropRule{}.momentum);
  EXPECT_EQ(flags.rmsprop_epsilon, RmspropRule{}.epsilon);
  EXPECT_EQ(flags.adam_beta1, AdamRule{}.beta1);
  EXPECT_EQ(flags.adam_beta2, AdamRule{}.beta2);
  EXPECT_EQ(flags.adam_epsilon, AdamRule{}.epsilon);
}

TEST(Settings, TakeTheValuesOfTheFlags) {
  const RunSettings settings = settings_for(
      {"--model=lenet", "--batch_size=7", "--num_classes=10", "--num_warmup_batches=0",
       "--num_epochs=0.001", "--optimizer=momentum", "--momentum=0.5", "--weight_decay=0.125",
       "--gradient_clip=2", "--data_format=NHWC", "--device=reference"});
  EXPECT_EQ(settings.workload.batch, 7);
  EXPECT_EQ(settings.workload.num_classes, 10);
  EXPECT_EQ(settings.execution.warmup.num_batches, 0);
  EXPECT_EQ(settings.execution.steps.num_batches,
            183);  // 1281.167 images, in batches of 7, rounded down
  EXPECT_EQ(std::get<MomentumRule>(settings.workload.optimizer.rule).momentum, 0.5);
  EXPECT_EQ(settings.workload.optimizer.weight_decay, 0.125);
  EXPECT_EQ(settings.workload.optimizer.clip, 2.0);
  EXPECT_EQ(settings.execution.format, DataFormat::nhwc);
  EXPECT_EQ(settings.execution.device, RunDevice::reference);
  EXPECT_EQ(settings.workload.learning_rate.model, ModelRate::constant);
  EXPECT_EQ(settings.workload.learning_rate.examples_per_step, 7);
}

TEST(Settings, KeepTheMeaningOfTheOriginalsInputFlags) {
  EXPECT_EQ(
      settings_for({"--batch_group_size=4", "--num_warmup_batches=5"}).execution.warmup.num_batches,
      8);
  const ScratchFolder folder;
  std::ofstream(folder.path() / "train-00000-of-00001") << "x";
  const std::string data = fmt::format("--data_dir={}", folder.path().string());
  const auto slots = [&](std::string_view more) {
    return settings_for({"--data_name=imagenet", data, more})
        .workload.input.dataset.value()
        .prefetch_batches;
  };
  EXPECT_EQ(slots("--multi_device_iterator_max_buffer_size=1"), DatasetOptions{}.prefetch_batches);
  EXPECT_EQ(slots("--multi_device_iterator_max_buffer_size=5"), 7);
}

TEST(Settings, RefuseAReductionOnAnotherDevice) {
  EXPECT_NO_THROW(settings_for({"--variable_update=horovod", "--horovod_device=cpu"}));
  EXPECT_EQ(
      settings_refusal({"--variable_update=horovod", "--horovod_device=gpu"}),
      "--horovod_device=gpu: a run with --device=cpu reduces gradients there; omit this flag");
}

TEST(Settings, WithAnotherBatchMatchThatCommandLine) {
  for (const char* length : {"--num_batches=9", "--num_epochs=0.5", "--optimizer=sgd"}) {
    const RunSettings one = settings_for({"--model=resnet50", "--batch_size=1", length});
    const RunSettings seven = settings_for({"--model=resnet50", "--batch_size=7", length});
    const RunSettings changed = with_batch(one, 7);
    EXPECT_EQ(changed.workload.batch, 7);
    EXPECT_EQ(changed.execution.steps.num_batches, seven.execution.steps.num_batches) << length;
    EXPECT_EQ(changed.execution.steps.num_epochs, seven.execution.steps.num_epochs) << length;
    const LearningRate rate(changed.workload.learning_rate);
    const LearningRate own_rate(seven.workload.learning_rate);
    for (const std::int64_t step : {0, 1000, 1'000'000}) {
      EXPECT_EQ(rate.at(step), own_rate.at(step)) << length << ", step " << step;
    }
  }
}

TEST(Settings, HaveTheDefaultsOfTheFlagsBeforeTheyAreResolved) {
  const RunSettings resolved = settings_for({"--model=trivial"});
  const RunSettings plain;
  EXPECT_EQ(plain.workload.seed, resolved.workload.seed);
  EXPECT_EQ(plain.workload.calibration_batches, resolved.workload.calibration_batches);
  EXPECT_EQ(plain.workload.optimizer.weight_decay, resolved.workload.optimizer.weight_decay);
  EXPECT_EQ(plain.workload.loss_scale.increase_every, resolved.workload.loss_scale.increase_every);
  EXPECT_EQ(plain.outputs.lines.every, resolved.outputs.lines.every);
  EXPECT_EQ(plain.workload.strategy, resolved.workload.strategy);
}

TEST(Settings, KnowEveryAcceptedDevice) {
  for (const std::string_view name : split_words(find_flag("device")->accepted.values)) {
    EXPECT_EQ(name_of(device_named(name)), name);
  }
  EXPECT_THROW(device_named("abacus"), InternalError);
}

TEST(Settings, DescribeTheTypesOfComputationAndVariables) {
  const auto described = [](const std::vector<std::string_view>& arguments) {
    return describe_precision(settings_for(arguments).workload);
  };
  EXPECT_EQ(described({}), "f32");
  EXPECT_EQ(described({"--dtype=bf16"}), "bf16 (f32 variables)");
  EXPECT_EQ(described({"--dtype=f16", "--forward_only"}), "f16");
  EXPECT_EQ(described({"--dtype=int8", "--forward_only"}), "int8");
  EXPECT_EQ(described({"--dtype=f64", "--device=reference"}), "f64");
}

TEST(Settings, KeepTheSpellingOfTheDeviceForTheHeader) {
  const RunSettings settings = settings_for({"--model=lenet", "--device=CPU"});
  EXPECT_EQ(settings.execution.device, RunDevice::cpu);
  EXPECT_EQ(settings.execution.device_label, "CPU");
}

TEST(Settings, ShowAccuraciesOnRequestAndWhenOnlyForward) {
  EXPECT_TRUE(settings_for({"--model=lenet", "--print_training_accuracy"}).workload.accuracies());
  const RunSettings forward = settings_for({"--model=lenet", "--forward_only"});
  EXPECT_TRUE(forward.workload.accuracies());
  EXPECT_FALSE(forward.workload.training());
}

TEST(Settings, RefuseAMistypedModelWithNearNames) {
  const std::string message = settings_refusal({"--model=resnet5O"});
  EXPECT_THAT(message, HasSubstr("--model=resnet5O: "));
  EXPECT_THAT(message, HasSubstr("did you mean resnet50"));
}

TEST(Settings, RefuseADatasetThatTheModelCannotUse) {
  EXPECT_EQ(settings_refusal({"--model=resnet50", "--data_name=cifar10"}),
            "--model=resnet50 is a network for imagenet, but the dataset is cifar10; give "
            "--data_name=imagenet");
}

TEST(Settings, RefuseAMissingFolderForAnyDataset) {
  const ScratchFolder folder;
  const std::string absent = fmt::format("--data_dir={}", (folder.path() / "absent").string());
  std::string with_data;
  for (const Dataset& dataset : datasets()) {
    if (dataset.make_input != nullptr) {
      with_data += fmt::format("{}{}", with_data.empty() ? "" : " or ", dataset.name);
    }
  }
  for (const std::string_view name :
       {"--data_name=imagenet", "--data_name=cifar10", "--batch_size=2"}) {
    EXPECT_EQ(settings_refusal({"--model=alexnet", absent, name}),
              fmt::format("{}: the folder does not exist; give a folder with the files of {}",
                          absent, with_data));
  }
  std::ofstream(folder.path() / "imagenet") << "x";
  const std::string file = fmt::format("--data_dir={}", (folder.path() / "imagenet").string());
  EXPECT_THAT(settings_refusal({"--model=alexnet", file}),
              HasSubstr("this is a file; give a folder with"));
}

TEST(Settings, TakeTheDatasetOfTheModelByDefault) {
  for (const Model& model : all_models()) {
    const RunSettings settings = settings_for({fmt::format("--model={}", model.name)});
    const auto first = std::ranges::find(all_models(), model.name, &Model::name);
    EXPECT_EQ(settings.workload.dataset->name,
              find_model(model.name) != nullptr ? "imagenet" : first->dataset)
        << model.name;
    const RunSettings named = settings_for(
        {fmt::format("--model={}", model.name), fmt::format("--data_name={}", model.dataset)});
    EXPECT_EQ(named.workload.model, &model);
    EXPECT_EQ(named.workload.num_classes,
              model.num_classes > 0 ? model.num_classes : named.workload.dataset->num_classes);
  }
}

TEST(Settings, KnowEveryModelsLearningRate) {
  const auto rate = [](const std::vector<std::string_view>& arguments) {
    return settings_for(arguments).workload.learning_rate;
  };
  EXPECT_EQ(rate({"--model=official_resnet50"}).model, ModelRate::official_resnet);
  EXPECT_EQ(rate({"--model=resnet20"}).model, ModelRate::cifar_resnet);
  EXPECT_EQ(rate({"--model=resnet20"}).examples_per_epoch, 50000);
  EXPECT_EQ(rate({"--model=densenet40_k12"}).model, ModelRate::cifar_densenet);
  EXPECT_EQ(rate({"--model=alexnet"}).model, ModelRate::constant);
  EXPECT_EQ(rate({"--model=alexnet", "--data_name=cifar10"}).model, ModelRate::cifar_alexnet);
  EXPECT_EQ(rate({"--model=nasnet", "--data_name=cifar10"}).model, ModelRate::cifar_nasnet);
}

TEST(Settings, TakeAnotherImageSizeWhereTheNetworkAllowsIt) {
  const RunSettings settings = settings_for({"--model=resnet50", "--image_size=64"});
  EXPECT_EQ(settings.workload.image_size, 64);
  const Graph network = build_run_network(settings.workload, 2);
  EXPECT_EQ(network.shape(network.inputs()[0]), (Shape{2, 3, 64, 64}));
}

TEST(Settings, SayWhyAnImageSizeDoesNotFit) {
  EXPECT_EQ(
      settings_refusal({"--model=lenet", "--image_size=3"}),
      "--image_size=3 does not fit --model=lenet: max_pool: the input has extent 1, but the window "
      "needs 2 (axis H of pool1)");
}

TEST(Settings, RefuseAnAuxiliaryHeadIfTheModelHasNone) {
  EXPECT_EQ(settings_refusal({"--model=lenet", "--aux_head"}),
            "--aux_head: lenet has no auxiliary head; omit this flag");
  EXPECT_THAT(settings_refusal({"--model=lenet", "--aux_head", "--forward_only"}),
              HasSubstr("lenet has no auxiliary head"));
}

TEST(Settings, GiveTheAuxiliaryHeadToTrainingAlone) {
  const auto variables = [](const std::vector<std::string_view>& arguments) {
    return build_run_network(settings_for(arguments).workload, 2).variables().size();
  };
  const std::size_t without = variables({"--model=inception3"});
  EXPECT_GT(variables({"--model=inception3", "--aux_head"}), without);
  EXPECT_EQ(variables({"--model=inception3", "--aux_head", "--forward_only"}), without);
  EXPECT_THAT(settings_for({"--model=inception3", "--aux_head", "--forward_only"}).notices,
              testing::Contains("--aux_head: no effect with --forward_only"));
  EXPECT_THAT(settings_refusal({"--model=inception3", "--aux_head", "--image_size=100"}),
              HasSubstr("--image_size=100 does not fit --model=inception3: "));
}

TEST(Settings, SmoothTheLabelsOfTheLoss) {
  const auto smoothing_of = [](const std::vector<std::string_view>& arguments) {
    const Graph graph = build_run_network(settings_for(arguments).workload, 2);
    for (const Node& node : graph.nodes()) {
      if (node.op == &kSoftmaxCrossEntropy) {
        return node.attributes.as<SoftmaxCrossEntropyAttributes>().label_smoothing;
      }
    }
    return -1.0;
  };
  EXPECT_EQ(smoothing_of({"--model=lenet"}), 0);
  EXPECT_EQ(smoothing_of({"--model=lenet", "--label_smoothing=0.125"}), 0.125);
}

TEST(FirstLabel, IsOneIfThereIsNoBackgroundClass) {
  const auto label = [](const std::vector<std::string_view>& arguments) {
    return first_label(settings_for(arguments).workload);
  };
  EXPECT_EQ(label({"--model=resnet50"}), 0);
  EXPECT_EQ(label({"--model=resnet50", "--num_classes=1000"}), 1);
  EXPECT_EQ(label({"--model=resnet50", "--num_classes=11"}), 0);
  // CIFAR-10's labels count from 0; one class is spare.
  EXPECT_EQ(label({"--model=resnet20", "--num_classes=10"}), 0);
  EXPECT_EQ(label({"--model=densenet121"}), 1);
  EXPECT_EQ(label({"--model=densenet121", "--num_classes=1001"}), 0);
}

TEST(Settings, PassOnTheNoticesOfFlagsAndPlacement) {
  EXPECT_FALSE(settings_for({"--model=lenet", "--data_format=NCHW"}).notices.empty());
}

TEST(Settings, TakeInt8ForInferenceAloneAndFoldForIt) {
  EXPECT_THAT(settings_refusal({"--model=lenet", "--dtype=int8"}), HasSubstr("--forward_only"));
  EXPECT_THAT(settings_refusal({"--model=lenet", "--dtype=int8", "--forward_only",
                                "--save_variables=/tmp/never.safetensors"}),
              HasSubstr("--save_variables"));
  const RunSettings settings = settings_for({"--model=lenet", "--dtype=int8", "--forward_only"});
  EXPECT_TRUE(settings.workload.int8);
  EXPECT_TRUE(settings.workload.frozen());
}

TEST(RunGraph, RunsItsLayersInInt8WhereAsked) {
  const auto backend = make_reference_backend();
  const RunSettings settings =
      settings_for({"--model=lenet", "--device=reference", "--dtype=int8", "--forward_only"});
  const Graph graph = build_run_graph(settings, *backend, 2);
  const auto nodes = graph.nodes();
  const auto layers = std::count_if(nodes.begin(), nodes.end(), [](const Node& node) {
    return node.op->name.starts_with("quantized_");
  });
  EXPECT_EQ(layers, 4);
}

TEST(RunGraph, HasGradientsWhenTrainingOnly) {
  const auto backend = make_reference_backend();
  const RunSettings training = settings_for({"--model=lenet", "--device=reference"});
  const Graph with = build_run_graph(training, *backend, 2);
  EXPECT_EQ(with.gradients().size(), with.variables().size());
  const RunSettings forward =
      settings_for({"--model=lenet", "--device=reference", "--forward_only"});
  EXPECT_TRUE(build_run_graph(forward, *backend, 2).gradients().empty());
}

}  // namespace
}  // namespace bench
