#include "bench/all_reduce/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "models/base/errors.h"
#include "variable_mgmt/collectives/buckets.h"

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

AllReduceOptions read(const std::vector<std::string>& arguments) { return read_options(arguments); }

std::string refused(const std::vector<std::string>& arguments) {
  try {
    read(arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(AllReduceOptions, TimeAllSizesWithEveryAlgorithmByDefault) {
  const AllReduceOptions options = read({});
  EXPECT_EQ(options.sizes.front(), 1024U);
  EXPECT_EQ(options.sizes.back(), std::size_t{256} << 20);
  EXPECT_TRUE(options.specs.empty()) << "every algorithm";
  EXPECT_FALSE(options.on_gpus);
  EXPECT_EQ(options.towers, 2);
  EXPECT_EQ(options.small_max_group, 10);
  EXPECT_EQ(options.iters_per_step, 5);
  EXPECT_EQ(options.num_batches, 20);
  EXPECT_EQ(options.num_warmup_batches, 2);
}

TEST(AllReduceOptions, ReadARangeOfSizesWithAFactor) {
  EXPECT_THAT(read({"--sizes=8:1K:10"}).sizes, ElementsAre(8, 80, 800));
  EXPECT_THAT(read({"--sizes=1K:4K:2"}).sizes, ElementsAre(1024, 2048, 4096));
  EXPECT_THAT(read({"--sizes=3M"}).sizes, ElementsAre(3U << 20));
  EXPECT_THAT(read({"--sizes=1024G:1024G:1024G"}).sizes, ElementsAre(std::size_t{1} << 40));
  for (const std::string bad : {"--sizes=", "--sizes=0", "--sizes=1:2", "--sizes=2K:1K:2",
                                "--sizes=1K:2K:1", "--sizes=1X", "--sizes=1:2:3:4"}) {
    EXPECT_THAT(refused({bad}), HasSubstr("FROM:TO:FACTOR")) << bad;
  }
}

TEST(AllReduceOptions, TakeSizesOfWholeElementsOnly) {
  EXPECT_THAT(read({"--sizes=10", "--dtype=bf16"}).sizes, ElementsAre(10));
  EXPECT_EQ(refused({"--sizes=10"}),
            "--sizes: 10 is not a multiple of 4, the bytes of one element of f32");
  EXPECT_THAT(refused({"--sizes=4:1K:3", "--dtype=f64"}),
              HasSubstr("--sizes: 4 is not a multiple of 8"));
}

TEST(AllReduceOptions, ShowTheirDefaults) {
  std::ostringstream out;
  print_usage(out);
  EXPECT_THAT(out.str(), HasSubstr("default 1K:256M:4\n"));
  EXPECT_EQ(read({}).bucket_mb, 0);
  EXPECT_THAT(out.str(), HasSubstr(fmt::format("(bench: {})", BucketLimits().bytes >> 20U)));
}

TEST(AllReduceOptions, ReadSeveralSpecs) {
  EXPECT_THAT(read({"--all_reduce_spec=pscpu:32k:xring#2,shm"}).specs,
              ElementsAre("pscpu:32k:xring#2", "shm"));
  EXPECT_THAT(refused({"--all_reduce_spec=shm,ring"}), HasSubstr("is 'ring'; accepted: one of"));
  for (const std::string empty : {"", "shm,", ",shm"}) {
    EXPECT_THAT(refused({"--all_reduce_spec=" + empty}), HasSubstr("accepted: one of")) << empty;
  }
}

TEST(AllReduceOptions, RefuseSpecsThatTheTowersCannotRun) {
  EXPECT_THAT(refused({"--num_gpus=3", "--all_reduce_spec=shm,xring:64k:psgpu#4"}),
              HasSubstr("--all_reduce_spec=xring:64k:psgpu#4: part 3 (character 11) is 'psgpu#4'; "
                        "accepted: psgpu with 1 to 3 shards"));
  EXPECT_THAT(refused({"--all_reduce_spec=psgpu#3", "--num_gpus=3"}), "accepted");
  EXPECT_THAT(refused({"--all_reduce_spec=nccl/xring"}), HasSubstr("is not supported yet"));
  EXPECT_THAT(refused({"--all_reduce_spec=auto"}),
              HasSubstr("to time every algorithm that auto chooses from"));
  EXPECT_THAT(refused({"--all_reduce_spec=nccl"}), HasSubstr("add --device=gpu"));
}

TEST(AllReduceOptions, NameWhatIsWrong) {
  EXPECT_THAT(refused({"--batch_size=3"}), HasSubstr("--batch_size=3: unknown option"));
  EXPECT_THAT(refused({"model"}), HasSubstr("unexpected operand 'model'"));
  EXPECT_THAT(refused({"--model"}), HasSubstr("--model needs a value: NAME"));
  EXPECT_THAT(refused({"--model=resnet51"}), HasSubstr("--model=resnet51: must be a network"));
  EXPECT_THAT(refused({"--num_gpus=0"}),
              HasSubstr("--num_gpus=0: not an integer from 1 to 2147483647"));
  EXPECT_THAT(refused({"--dtype=int8"}), HasSubstr("accepted: f32, bf16, f16, f64"));
  EXPECT_THAT(refused({"--model=lenet", "--sizes=1K"}), HasSubstr("cannot be combined"));
  EXPECT_THAT(refused({"--gradient_repacking=2"}), HasSubstr("give --model"));
  EXPECT_THAT(refused({"--model=lenet", "--gradient_repacking=2", "--allreduce_bucket_mb=1"}),
              HasSubstr("cannot be combined"));
}

TEST(AllReduceOptions, TakeAModelInAnyCase) {
  EXPECT_EQ(read({"--model=ResNet50"}).model, "resnet50");
  EXPECT_TRUE(read({"--help", "--nonsense"}).help);
}

}  // namespace
}  // namespace bench
