#include "bench/runs/verify_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "bench/flags/test/usage_error.h"
#include "results/environment/test/fake_system.h"

namespace bench {
namespace {

using testing::HasSubstr;

/// The effect of --verify=model with these flags.
class VerifyCommand : public testing::Test {
 protected:
  int operator()(const std::vector<std::string_view>& arguments) {
    return run_verification(parse(arguments), host_);
  }
  std::string refusal(const std::vector<std::string_view>& arguments) {
    return usage_error([&] { (*this)(arguments); });
  }

  FakeSystem system_;
  std::ostringstream out_;
  std::ostringstream err_;
  RunStreams streams_{.out = out_, .err = err_};
  RunHost host_{streams_, {"bench"}, system_.files()};
};

TEST_F(VerifyCommand, IsRefusedForAModifiedNetwork) {
  EXPECT_THAT(refusal({"--verify", "--model=lenet", "--num_classes=10"}), HasSubstr("10 classes"));
}

TEST_F(VerifyCommand, IsRefusedForTrainingOnAnOddBatch) {
  EXPECT_THAT(refusal({"--verify", "--model=lenet", "--batch_size=1"}), HasSubstr("1 is odd"));
}

TEST_F(VerifyCommand, TakesAnOddBatchForInference) {
  EXPECT_EQ((*this)({"--verify", "--model=lenet", "--device=reference", "--batch_size=1",
                     "--forward_only"}),
            0);
}

TEST_F(VerifyCommand, PrintsALineForTheModelAskedFor) {
  EXPECT_EQ((*this)({"--verify", "--model=lenet", "--device=reference"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("\nlenet "));
  EXPECT_THAT(out_.str(), HasSubstr(" ok; "));
}

TEST_F(VerifyCommand, ComparesEveryTowerWithTheFingerprint) {
  EXPECT_EQ((*this)({"--verify", "--model=lenet", "--device=reference", "--num_gpus=2",
                     "--variable_update=replicated"}),
            0);
  EXPECT_THAT(out_.str(), HasSubstr(" ok; "));
}

TEST_F(VerifyCommand, RefusesAModelTogetherWithAll) {
  EXPECT_THAT(refusal({"--verify=all", "--model=lenet"}),
              HasSubstr("--verify=all checks every model"));
}

TEST_F(VerifyCommand, EndsIfTheOutputIsClosed) {
  out_.setstate(std::ios::badbit);
  EXPECT_THROW((*this)({"--verify", "--model=lenet", "--device=reference"}), RunEnded);
}

}  // namespace
}  // namespace bench
