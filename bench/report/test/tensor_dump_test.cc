#include "bench/report/tensor_dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "bench/plan/test/filed_run.h"
#include "models/base/errors.h"

namespace bench {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

const std::array<float, 24> kImages = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
const std::array<std::int32_t, 2> kLabels = {0, 3};
const InputBatch kBatch = {.images = kImages.data(), .labels = kLabels.data()};

std::vector<float> floats(const TensorFile& file, const std::string& name) {
  const StoredTensor* tensor = file.find(name);
  if (tensor == nullptr) {
    ADD_FAILURE() << "no " << name;
    return {};
  }
  std::vector<float> values(tensor->elements());
  file.read(*tensor, 0, values);
  return values;
}

std::vector<std::string> names(const TensorFile& file) {
  std::vector<std::string> result;
  for (const auto& [name, tensor] : file.tensors()) {
    result.push_back(name);
  }
  return result;
}

TEST(TensorDump, WritesNothingWhenTheWatchEndsIt) {
  FiledRun run;
  run.settings.outputs.files.dump_tensors = run.path("dump");
  const auto tower = run.tower(run.values());
  EXPECT_THROW(dump_first_step(run.settings.workload, run.files(), *tower, kBatch,
                               [](auto, auto) { throw DataError("enough"); }),
               DataError);
  EXPECT_TRUE(std::filesystem::is_empty(run.folder.path()));
}

TEST(TensorDump, HoldsTheFirstStepsLogitsLossesAndGradients) {
  FiledRun run;
  run.settings.outputs.files.dump_tensors = run.path("dump");
  const RunTensorFiles files = run.files();
  ASSERT_TRUE(files.dumps());
  const auto tower = run.tower(run.values());
  dump_first_step(run.settings.workload, files, *tower, kBatch);

  const TensorFile dump(run.path("dump"));
  EXPECT_THAT(names(dump), UnorderedElementsAre("logits", "loss", "total_loss", "grad/conv.weight",
                                                "grad/conv.bias", "grad/bn.weight", "grad/bn.bias",
                                                "grad/fc.weight", "grad/fc.bias"));
  EXPECT_THAT(dump.find("logits")->shape, ElementsAre(2, 4));
  EXPECT_THAT(floats(dump, "logits"), Each(0));
  EXPECT_NEAR(floats(dump, "loss").at(0), std::log(4), 1e-6);
  // Half the sum of eight weights' squares is 1; the coefficient is 0.25.
  EXPECT_NEAR(floats(dump, "total_loss").at(0), std::log(4) + 0.25, 1e-6);
  EXPECT_THAT(dump.find("grad/conv.weight")->shape, ElementsAre(2, 3, 1, 1));
  // Softmax minus the target, over a batch of two, for the loss without the L2 term.
  EXPECT_THAT(floats(dump, "grad/fc.bias"), ElementsAre(-0.25F, 0.25F, 0.25F, -0.25F));
  EXPECT_THAT(floats(dump, "grad/fc.weight"), Each(0));
  EXPECT_EQ(dump.metadata().at("model"), "tiny");
  EXPECT_THAT(tower->executor().read_variable("fc.bias"), Each(0));
}

TEST(TensorDump, HoldsTheWholeNumbersOfTheBatch) {
  FiledRun run;
  run.settings.outputs.files.dump_tensors = run.path("dump");
  const BatchNumbers labels{.input = "labels", .values = kLabels.data(), .per_example = 1};
  InputBatch batch = kBatch;
  batch.numbers = {&labels, 1};
  dump_first_step(run.settings.workload, run.files(), *run.tower(run.values()), batch);
  const TensorFile dump(run.path("dump"));
  const StoredTensor* const found = dump.find("labels");
  ASSERT_NE(found, nullptr);
  EXPECT_THAT(found->shape, ElementsAre(2));
  std::vector<std::int64_t> values(2);
  dump.read(*found, 0, values);
  EXPECT_THAT(values, ElementsAre(0, 3));
}

TEST(TensorDump, HoldsTheLogitsAloneWhenTheRunIsForwardOnly) {
  FiledRun run;
  run.settings.workload.mode = RunMode::forward_only;
  run.settings.outputs.files.dump_tensors = run.path("dump");
  InitialValues values = run.values();
  values.at("fc.bias") = {1, 2, 3, 4};
  dump_first_step(run.settings.workload, run.files(), *run.tower(values), kBatch);
  const TensorFile dump(run.path("dump"));
  EXPECT_THAT(names(dump), ElementsAre("logits"));
  EXPECT_THAT(floats(dump, "logits"), ElementsAre(1, 2, 3, 4, 1, 2, 3, 4));
}

}  // namespace
}  // namespace bench
