#include "bench/flags/near.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::StrEq;

TEST(UnknownValue, NamesGivenAcceptedAndSimilarValues) {
  EXPECT_THAT(unknown_value(*find_flag("loss_type_to_report"), "totalloss").what(),
              StrEq("--loss_type_to_report=totalloss: unknown value; accepted: total_loss, "
                    "base_loss; did you mean total_loss?"));
}

TEST(UnknownValue, NeverSuggestsAValueThatIsRefused) {
  EXPECT_THAT(unknown_value(*find_flag("server_protocol"), "grpc+mpy").what(),
              StrEq("--server_protocol=grpc+mpy: unknown value; accepted: grpc (not applicable: "
                    "grpc+verbs, grpc+gdr, grpc+mpi)"));
}

TEST(UnknownValue, KnowsOtherProgramsWords) {
  EXPECT_THAT(
      unknown_value(*find_flag("dtype"), "torch.Float16").what(),
      StrEq("--dtype=torch.Float16: unknown value; accepted: f32, bf16, f16, f64, int8; did you "
            "mean f16?"));
}

TEST(UnknownValue, NamesFilesAndValuesIfBothAreAccepted) {
  constexpr std::string_view kNeither =
      ": unknown value; accepted: an existing file, or one of sm_75, sm_80, sm_86, sm_87, sm_89, "
      "sm_90, "
      "sm_100, sm_103, sm_110, sm_120, sm_121";
  for (const std::string_view word : {"sm90", "SM-90", "h100", "9.0"}) {
    EXPECT_EQ(unknown_value(*find_flag("plan_for"), word).what(),
              fmt::format("--plan_for={}{}; did you mean sm_90?", word, kNeither));
  }
  EXPECT_EQ(unknown_value(*find_flag("plan_for"), "/none.json").what(),
            fmt::format("--plan_for=/none.json{}", kNeither));
}

TEST(UnknownValue, SuggestsModelForTheNameOfAModel) {
  EXPECT_THAT(
      unknown_value(*find_flag("verify"), "lenet").what(),
      StrEq("--verify=lenet: unknown value; accepted: model, all; did you mean --model=lenet "
            "--verify?"));
}

TEST(UnknownValue, PointsToTheListOfManyValues) {
  const std::vector<std::string_view> names = {"trivial", "lenet"};
  EXPECT_THAT(unknown_value("model", "lenett", names, "list_models").what(),
              StrEq("--model=lenett: unknown value; did you mean lenet? --list_models lists all"));
  EXPECT_THAT(unknown_value("model", "quux", names, "list_models").what(),
              StrEq("--model=quux: unknown value; --list_models lists all"));
}

TEST(UnknownFlag, NamesNearFlags) {
  EXPECT_THAT(unknown_flag("--batchsize").what(),
              testing::HasSubstr("--batchsize: unknown flag; did you mean --batch_size"));
  EXPECT_THAT(unknown_flag("--batch-size").what(), testing::HasSubstr("--batch_size"));
  EXPECT_THAT(unknown_flag("--decay_factor").what(),
              testing::HasSubstr("--learning_rate_decay_factor"));
  EXPECT_THAT(unknown_flag("--noforward_onli").what(), testing::HasSubstr("--noforward_only"));
}

TEST(UnknownFlag, KnowsOtherProgramsWords) {
  EXPECT_THAT(unknown_flag("--lr").what(),
              StrEq("--lr: unknown flag; did you mean --init_learning_rate?"));
  EXPECT_THAT(unknown_flag("--amp").what(),
              StrEq("--amp: unknown flag; did you mean --use_fp16 or --dtype=bf16?"));
}

TEST(UnknownFlag, KnowsTheNamesOfModels) {
  EXPECT_THAT(unknown_flag("--ResNet50").what(),
              StrEq("--ResNet50: unknown flag; did you mean --model=resnet50?"));
  EXPECT_THAT(unknown_flag("--resnet-50").what(),
              StrEq("--resnet-50: unknown flag; did you mean --model=resnet50?"));
}

TEST(UnknownFlag, EchoesTheDashesThatWereGiven) {
  EXPECT_THAT(unknown_flag("-b").what(), StrEq("-b: unknown flag; did you mean --batch_size?"));
  EXPECT_THAT(unknown_flag("-quux").what(), testing::StartsWith("-quux: unknown flag"));
}

TEST(UnknownFlag, PointsToTheHelpWhenNothingIsNear) {
  EXPECT_THAT(unknown_flag("--quux").what(),
              StrEq("--quux: unknown flag; --help=all lists all flags"));
}

}  // namespace
}  // namespace bench
