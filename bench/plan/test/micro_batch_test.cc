#include "bench/plan/micro_batch.h"

#include <gtest/gtest.h>

#include "bench/flags/test/usage_error.h"
#include "bench/plan/resolve_settings.h"
#include "models/passes/fold_batch_norm.h"
#include "models/zoo/zoo.h"

namespace bench {
namespace {

constexpr std::size_t kMebi = std::size_t{1} << 20;

/// For one image. Batch norm is folded, but ReLU is not fused.
Graph inference_of(std::string_view model) {
  return fold_batch_norm(build_network(*find_model(model), {.training = false})).graph;
}

TEST(MicroBatch, KeepsTheActivationsOfWideNetworksInTheCaches) {
  const Graph mobilenet = inference_of("mobilenet_v2");
  // 112 x 112 x 96 channels in f32, read and written by ReLU: 9.2 MiB per image.
  EXPECT_EQ(fastest_micro_batch(mobilenet, 32, 40 * kMebi), 4);
  EXPECT_EQ(fastest_micro_batch(mobilenet, 30, 40 * kMebi), 3);
  EXPECT_EQ(fastest_micro_batch(mobilenet, 32, 10 * kMebi), 1);
}

TEST(MicroBatch, KeepsTheBatchWhole) {
  const Graph mobilenet = inference_of("mobilenet_v2");
  EXPECT_EQ(fastest_micro_batch(mobilenet, 32, 8 * kMebi), 32) << "one image does not fit";
  EXPECT_EQ(fastest_micro_batch(mobilenet, 4, 40 * kMebi), 4) << "the batch fits";
  EXPECT_EQ(fastest_micro_batch(inference_of("vgg16"), 32, 40 * kMebi), 32)
      << "arithmetic limits the network";
}

TEST(MicroBatch, MustDivideTheBatch) {
  const auto refusal = [](std::vector<std::string_view> flags) {
    flags.insert(flags.end(), {"--model=lenet", "--forward_only", "--device=cpu"});
    RunSettings settings = resolve_settings(parse(flags));
    return usage_error([&] { choose_micro_batch(settings, make_device(settings)); });
  };
  EXPECT_EQ(refusal({"--batch_size=10", "--micro_batch=4"}),
            "--micro_batch=4 does not divide the batch of 10 images");
  EXPECT_EQ(refusal({"--batch_size=12", "--micro_batch=4"}), "no UsageError");
}

}  // namespace
}  // namespace bench
