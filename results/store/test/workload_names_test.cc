#include "results/store/workload_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::results {
namespace {

using ::testing::ElementsAre;

constexpr const char* kRate = "flags.workload.init_learning_rate";

TEST(DistinctNames, AreTheTextsWhereTheseDiffer) {
  const std::vector<NamedWorkload> workloads = {
      {.text = "lenet train", .fields = {{"workload.num_batches", "20"}}},
      {.text = "lenet infer", .fields = {{"workload.num_batches", "40"}}}};
  EXPECT_THAT(distinct_names(workloads), ElementsAre("lenet train", "lenet infer"));
  EXPECT_THAT(distinct_names({}), ElementsAre());
}

TEST(DistinctNames, HaveTheFieldsThatDistinguishEqualTexts) {
  const std::vector<NamedWorkload> workloads = {
      {.text = "lenet", .fields = {{"workload.num_batches", "20"}, {kRate, "null"}}},
      {.text = "vgg", .fields = {{"workload.num_batches", "20"}}},
      {.text = "lenet", .fields = {{"workload.num_batches", "40"}, {kRate, "null"}}},
      {.text = "lenet", .fields = {{"workload.num_batches", "40"}, {kRate, "0.1"}}}};
  EXPECT_THAT(distinct_names(workloads),
              ElementsAre("lenet (num_batches 20, init_learning_rate unset)", "vgg",
                          "lenet (num_batches 40, init_learning_rate unset)",
                          "lenet (num_batches 40, init_learning_rate 0.1)"));
}

TEST(DistinctNames, HaveEnoughDigitsToDiffer) {
  const auto names = [](const std::string& one, const std::string& other) {
    const std::vector<NamedWorkload> workloads = {{.text = "lenet", .fields = {{kRate, one}}},
                                                  {.text = "lenet", .fields = {{kRate, other}}}};
    return distinct_names(workloads);
  };
  EXPECT_THAT(
      names("3.0757400999615535e-07", "0.05"),
      ElementsAre("lenet (init_learning_rate 3.07574e-07)", "lenet (init_learning_rate 0.05)"));
  EXPECT_THAT(names("0.12345678", "0.12345679"),
              ElementsAre("lenet (init_learning_rate 0.12345678)",
                          "lenet (init_learning_rate 0.12345679)"));
}

TEST(DistinctNames, OmitRedundantFields) {
  const std::vector<NamedWorkload> workloads = {
      {.text = "lenet",
       .fields = {{"workload.optimizer", "\"sgd\""}, {kRate, "0.1"}, {"workload.seed", "1"}}},
      {.text = "lenet",
       .fields = {{"workload.optimizer", "\"adam\""}, {kRate, "0.2"}, {"workload.seed", "1"}}}};
  EXPECT_THAT(distinct_names(workloads),
              ElementsAre("lenet (optimizer sgd)", "lenet (optimizer adam)"));
}

TEST(DistinctNames, NameDerivedFieldsOnlyIfNothingElseDiffers) {
  const std::vector<NamedWorkload> workloads = {
      {.text = "lenet", .fields = {{"workload.model_params", "5"}}},
      {.text = "lenet",
       .fields = {{"workload.model_params", "6"}, {"flags.workload.num_classes", "7"}}}};
  EXPECT_THAT(distinct_names(workloads),
              ElementsAre("lenet (num_classes not recorded)", "lenet (num_classes 7)"));
  const std::vector<NamedWorkload> imported = {
      {.text = "lenet", .fields = {{"workload.model_params", "5"}}},
      {.text = "lenet", .fields = {{"workload.model_params", "null"}}}};
  EXPECT_THAT(distinct_names(imported),
              ElementsAre("lenet (model_params 5)", "lenet (model_params unknown)"));
}

}  // namespace
}  // namespace bench::results
