#include "bench/plan/micro_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "bench/flags/test/usage_error.h"
#include "bench/plan/resolve_settings.h"
#include "kernels/forwarding_backend.h"
#include "kernels/reference/reference_backend.h"
#include "models/passes/fold_batch_norm.h"
#include "models/zoo/zoo.h"

namespace bench {
namespace {

using testing::Contains;
using testing::StartsWith;

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
  EXPECT_EQ(fastest_micro_batch(inference_of("vgg16"), 32, 40 * kMebi), 32)
      << "arithmetic limits the network";
}

/// A device with this many bytes of cache and threads.
class CachingBackend final : public ForwardingBackend {
 public:
  CachingBackend(Backend& inner, std::size_t cache_bytes, int threads)
      : ForwardingBackend(inner), cache_bytes_(cache_bytes), threads_(threads) {}
  [[nodiscard]] MemoryTraits memory_traits() const override {
    return {.cache_bytes = cache_bytes_};
  }
  [[nodiscard]] HostThreads host_threads() override { return {.count = threads_, .run = {}}; }

 private:
  std::size_t cache_bytes_;
  int threads_;
};

RunSettings settings_of(std::vector<std::string_view> flags) {
  flags.emplace_back("--forward_only");
  return resolve_settings(parse(flags));
}

RunSettings chosen(const std::vector<std::string_view>& flags, std::size_t cache_bytes = 40 * kMebi,
                   int threads = 4) {
  RunSettings settings = settings_of(flags);
  const auto reference = make_reference_backend();
  CachingBackend backend(*reference, cache_bytes, threads);
  choose_micro_batch(settings, backend);
  return settings;
}

std::string refusal(const std::vector<std::string_view>& flags) {
  return usage_error([&] { chosen(flags); });
}

TEST(MicroBatch, IsChosenForInferenceOnACpu) {
  const std::string_view model = "--model=mobilenet_v2";
  const std::string_view batch = "--batch_size=32";
  const RunSettings settings = chosen({model, batch, "--device=cpu"});
  EXPECT_EQ(images_at_once(settings), 4);
  EXPECT_THAT(settings.notices, Contains(StartsWith("the network computes 4 of 32 images")));
  EXPECT_EQ(images_at_once(chosen({model, batch, "--device=reference"})), 32);
  EXPECT_EQ(images_at_once(chosen({model, batch, "--device=cpu", "--dump_tensors=x"})), 32);
  EXPECT_EQ(images_at_once(chosen({model, batch, "--device=cpu", "--micro_batch=16"})), 16);
}

TEST(MicroBatch, TrustsOnly16MebibytesOfCachePerThread) {
  const std::vector<std::string_view> flags{"--model=mobilenet_v2", "--batch_size=32",
                                            "--device=cpu"};
  EXPECT_EQ(images_at_once(chosen(flags, 260 * kMebi, 2)),
            images_at_once(chosen(flags, 32 * kMebi, 2)));
  EXPECT_EQ(images_at_once(chosen(flags, 260 * kMebi, 2)), 2);
}

TEST(MicroBatch, IsThatOfTheChoicesFile) {
  RunSettings settings = settings_of({"--model=mobilenet_v2", "--batch_size=32", "--device=cpu"});
  settings.execution.choices =
      std::make_shared<ChoicesFile>(ChoicesFile{.choices = {}, .made_for = {{"micro_batch", "8"}}});
  const auto backend = make_reference_backend();
  choose_micro_batch(settings, *backend);
  EXPECT_EQ(images_at_once(settings), 8);
}

TEST(MicroBatch, MustDivideTheDefaultBatch) {
  EXPECT_EQ(refusal({"--model=lenet", "--device=cpu", "--micro_batch=5"}),
            "--micro_batch=5 does not divide the batch of 32");
  EXPECT_EQ(refusal({"--model=lenet", "--device=cpu", "--micro_batch=4"}), "no UsageError");
  EXPECT_EQ(refusal({"--model=lenet", "--device=reference", "--micro_batch=4"}),
            "--micro_batch=4 is for CPUs: omit it with --device=reference");
}

}  // namespace
}  // namespace bench
