#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "bench/plan/input_settings.h"
#include "bench/plan/test/settings_for.h"
#include "models/base/test/scratch_folder.h"

namespace bench {
namespace {

using testing::HasSubstr;

TEST(InputSettings, RefusePixelsThatTheDeviceCannotNormalize) {
  const ScratchFolder folder;
  for (const char* const name : {"train-00000-of-00001", "validation-00000-of-00001"}) {
    std::ofstream(folder.path() / name) << "x";
  }
  const std::string data = fmt::format("--data_dir={}", folder.path().string());
  for (const std::string_view flag :
       {"--distortions", "--ml_perf", "--pixel_std=1,1,1", "--resize_method=bicubic",
        "--resize_method=area", "--resize_method=round_robin",
        "--input_preprocessor=official_models_imagenet"}) {
    EXPECT_THAT(settings_refusal({"--model=lenet", "--data_name=imagenet", data, flag,
                                  "--input_transfer=uint8"}),
                HasSubstr(fmt::format("--input_transfer=uint8 cannot be combined with {}", flag)));
  }
  EXPECT_THAT(settings_refusal({"--model=inception3", "--data_name=imagenet", data, "--eval",
                                "--init_from=x", "--input_preprocessor=official_models_imagenet"}),
              HasSubstr("at most 256 pixels per side, but --model=inception3 uses 299"));
  // COCO's images are prepared without this option.
  EXPECT_EQ(settings_refusal({"--model=ssd300", "--eval", "--init_from=x", data,
                              "--input_preprocessor=official_models_imagenet"}),
            "no UsageError");
}

TEST(InputSettings, SendPixelsOnlyIfTheDeviceCanNormalizeThem) {
  const ScratchFolder folder;
  for (const char* const name : {"train-00000-of-00001", "ptb.train.txt", "ptb.valid.txt"}) {
    std::ofstream(folder.path() / name) << "x";
  }
  const std::string data = fmt::format("--data_dir={}", folder.path().string());
  const auto can_send = [](const std::vector<std::string_view>& arguments) {
    return can_send_pixels(resolve_settings(parse(arguments)).workload);
  };
  EXPECT_TRUE(can_send({"--model=lenet", "--data_name=imagenet", data}));
  EXPECT_FALSE(can_send({"--model=lenet", "--data_name=imagenet", data, "--distortions"}));
  EXPECT_FALSE(can_send({"--model=lenet"})) << "synthetic";
  EXPECT_FALSE(can_send({"--model=lstm_lm", data}));
  EXPECT_FALSE(can_send({"--model=ssd300", data}));
}

TEST(InputSettings, PrepareImagesAsMlPerf) {
  const ScratchFolder folder;
  std::ofstream(folder.path() / "train-00000-of-00001") << "x";
  const std::string data = fmt::format("--data_dir={}", folder.path().string());
  const RunSettings settings =
      resolve_settings(parse({"--model=lenet", "--data_name=imagenet", data, "--ml_perf"}));
  EXPECT_EQ(settings.workload.input.dataset->scaling, kImagenetMeans);
  EXPECT_FALSE(settings.workload.input.dataset->use_boxes);
}

TEST(InputSettings, ScaleEachChannelAsAsked) {
  const ScratchFolder folder;
  std::ofstream(folder.path() / "train-00000-of-00001") << "x";
  const std::string data = fmt::format("--data_dir={}", folder.path().string());
  const auto arguments = [&](std::string_view flag) {
    return std::vector<std::string_view>{"--model=lenet", "--data_name=imagenet", data, flag};
  };
  const auto scaling = [&](std::string_view flag) {
    return resolve_settings(parse(arguments(flag))).workload.input.dataset->scaling;
  };
  EXPECT_EQ(scaling("--pixel_mean=124,117,0"),
            (PixelScaling{{{.mean = 124}, {.mean = 117}, {.mean = 0}}}));
  EXPECT_EQ(scaling("--pixel_std=58.5,57,1"),
            (PixelScaling{{{.deviation = 58.5F}, {.deviation = 57}, {.deviation = 1}}}));
  for (const std::string_view flag :
       {"--pixel_mean=1,2", "--pixel_mean=1,2,x", "--pixel_mean=1,2,-3", "--pixel_mean=1,2,256",
        "--pixel_mean=nan,2,3", "--pixel_std=0,1,1"}) {
    EXPECT_THAT(settings_refusal(arguments(flag)), HasSubstr("give three numbers from"));
  }
  EXPECT_THAT(settings_refusal(arguments("--pixel_std=0.2,0.2,0.3")),
              HasSubstr("all values are below 1; multiply them by 255"));
  for (const std::string_view flag :
       {"--ml_perf", "--input_preprocessor=official_models_imagenet"}) {
    auto both = arguments(flag);
    both.emplace_back("--pixel_std=1,1,1");
    EXPECT_THAT(settings_refusal(both),
                HasSubstr(fmt::format("--pixel_std cannot be combined with {}", flag)));
  }
}

TEST(InputSettings, SendPixelsToTheDeviceAndReportRounding) {
  const ScratchFolder folder;
  std::ofstream(folder.path() / "data_batch_1.bin") << "x";
  std::ofstream(folder.path() / "train-00000-of-00001") << "x";
  const std::string data = fmt::format("--data_dir={}", folder.path().string());
  const auto notices = [&](std::vector<std::string_view> arguments, SlotType expected) {
    arguments.insert(arguments.end(), {data, "--device=cpu"});
    const RunSettings settings = settings_for(arguments);
    EXPECT_EQ(settings.execution.slots, expected);
    std::string text;
    for (const std::string& notice : settings.notices) {
      text += notice + "\n";
    }
    return text;
  };
  const std::vector<std::string_view> lenet{"--model=lenet", "--data_name=imagenet"};
  const auto with = [](std::vector<std::string_view> arguments, std::string_view more) {
    arguments.push_back(more);
    return arguments;
  };
  EXPECT_THAT(notices(lenet, SlotType::f32), Not(HasSubstr("uint8")));
  EXPECT_THAT(notices(with(lenet, "--input_transfer=float"), SlotType::f32),
              Not(HasSubstr("uint8")));
  const auto pixels = with(lenet, "--input_transfer=uint8");
  EXPECT_THAT(notices(pixels, SlotType::u8), HasSubstr("by at most half a grey level"));
  EXPECT_THAT(notices(with(pixels, "--resize_method=crop"), SlotType::u8),
              HasSubstr("no pixel is rounded"));
  EXPECT_THAT(
      notices({"--model=resnet20", "--data_name=cifar10", "--input_transfer=uint8"}, SlotType::u8),
      HasSubstr("no pixel is rounded"));
}

}  // namespace
}  // namespace bench
