#include "bench/input/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/base/errors.h"

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

InputOptions read(std::vector<std::string> words, int processors = 6) {
  words.emplace_back("--data_dir=/");
  return read_input_options(words, processors);
}

std::string refused(const std::vector<std::string>& words) {
  try {
    read_input_options(words, 2);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(InputOptions, MeasurePowersOfTwoAndAllProcessorsByDefault) {
  EXPECT_THAT(read({}).threads, ElementsAre(1, 2, 4, 6));
  EXPECT_THAT(read({}, 1).threads, ElementsAre(1));
  EXPECT_THAT(read({"--threads=3,1"}).threads, ElementsAre(3, 1));
}

TEST(InputOptions, DescribeThePipelineAsBenchDoes) {
  const InputOptions options =
      read({"--subset=validation", "--output=u8", "--stage=decode", "--nofuse_decode_and_crop",
            "--jpeg_dct=accurate", "--resize_method=crop", "--image_size=299"});
  EXPECT_EQ(options.dataset->name, "imagenet");
  EXPECT_FALSE(options.pipeline.training);
  EXPECT_FALSE(options.pipeline.fuse_decode_and_crop);
  EXPECT_TRUE(options.pipeline.accurate_dct);
  EXPECT_EQ(options.pipeline.last_stage, InputStage::decode);
  EXPECT_EQ(options.pipeline.resize_method, ResizeMethod::crop);
  EXPECT_EQ(options.type, SlotType::u8);
  EXPECT_EQ(options.image_size, 299);
  EXPECT_EQ(read({"--data_name=cifar10"}).image_size, 32);
}

TEST(InputOptions, AreRefusedWithTheAcceptedValues) {
  EXPECT_THAT(refused({}), HasSubstr("give --data_dir=FOLDER"));
  EXPECT_THAT(refused({"--data_dir=/nowhere/at/all"}), HasSubstr("/nowhere/at/all"));
  EXPECT_THAT(refused({"--data_dir=/", "--threads=1,x"}), HasSubstr("'x' is not a number"));
  EXPECT_THAT(refused({"--data_dir=/", "--threads=0"}), HasSubstr("'0' is not a number"));
  EXPECT_THAT(refused({"--data_dir=/", "--output=u8", "--resize_method=area"}),
              HasSubstr("--output=u8 cannot be combined with --resize_method=area"));
  EXPECT_THAT(refused({"--data_dir=/", "--stage=crop"}), HasSubstr("read, parse, decode, resize"));
  EXPECT_THAT(refused({"--data_dir=/", "--data_name=cifar10", "--stage=read"}),
              HasSubstr("--stage: has no effect on cifar10"));
  EXPECT_THAT(refused({"--data_dir=/", "--result_file=/x.json"}),
              HasSubstr("is in the folder that --data_dir reads"));
  EXPECT_THAT(refused({"--data_dir=/", "--checksum=3", "--stage=read"}), HasSubstr("omit --stage"));
  EXPECT_THAT(refused({"--data_dir=/", "--index_dir="}), HasSubstr("--index_dir is empty"));
  EXPECT_THAT(refused({"--data_dir=/", "--seconds=0"}), HasSubstr("--seconds"));
}

}  // namespace
}  // namespace bench
