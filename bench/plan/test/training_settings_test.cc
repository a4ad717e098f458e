#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "bench/flags/test/usage_error.h"
#include "bench/plan/network.h"
#include "bench/plan/resolve_settings.h"
#include "models/base/test/scratch_folder.h"

namespace bench {
namespace {

using testing::HasSubstr;
using testing::Not;

RunSettings settings_with(const std::vector<std::string_view>& arguments) {
  return resolve_settings(parse(arguments));
}

TEST(EvaluationSettings, PrepareImagesForTorchvisionsWeights) {
  const ScratchFolder folder;
  std::ofstream(folder.path() / "validation-00000-of-00001") << "x";
  const std::string data = fmt::format("--data_dir={}", folder.path().string());
  const auto input_for = [&](std::string_view model) {
    return settings_with({"--eval", "--init_from=x", "--data_name=imagenet", data, model,
                          "--input_preprocessor=torchvision"})
        .workload.input.dataset.value();
  };
  const DatasetOptions densenet = input_for("--model=densenet121");
  EXPECT_EQ(densenet.preprocessor, Preprocessor::torchvision);
  EXPECT_TRUE(densenet.accurate_dct);
  EXPECT_EQ(input_for("--model=efficientnet_b0").preprocessor, Preprocessor::torchvision_bicubic);
  EXPECT_EQ(usage_error([&] { input_for("--model=resnet50"); }),
            "--input_preprocessor=torchvision is for torchvision's networks, not --model=resnet50; "
            "use --model=torchvision_resnet50");
}

TEST(TrainingSettings, DecayNoBiasesWithLars) {
  for (const char* const optimizer : {"--optimizer=momentum", "--optimizer=lars"}) {
    const bool biases = std::string_view(optimizer) == "--optimizer=momentum";
    const RunSettings settings = settings_with({"--model=lenet", optimizer});
    const Graph network = build_run_network(settings.workload, 1);
    for (const Variable& variable : network.variables()) {
      const bool bias = network.value(variable.value).name.ends_with(".bias");
      EXPECT_TRUE(variable.trainable());
      EXPECT_EQ(variable.decayed(), !bias || biases) << network.value(variable.value).name;
    }
  }
}

TEST(TrainingSettings, NoteThatLarsNeedsALargerRate) {
  const auto notes = [](std::vector<std::string_view> more) {
    more.insert(more.end(), {"--model=lenet", "--optimizer=lars"});
    return settings_with(more).notices;
  };
  EXPECT_THAT(notes({}), Contains(HasSubstr("give --init_learning_rate")));
  EXPECT_THAT(notes({"--init_learning_rate=1"}),
              Not(Contains(HasSubstr("give --init_learning_rate"))));
}

}  // namespace
}  // namespace bench
