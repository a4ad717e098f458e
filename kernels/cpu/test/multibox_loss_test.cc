#include "kernels/cpu/multibox_loss.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/cpu/test/kernel_test.h"
#include "models/base/errors.h"

namespace bench::cpu {
namespace {

/// A batch of anchors with two scores each, and its derivatives after run().
struct Batch {
  std::int64_t examples = 1;
  std::vector<std::int32_t> classes;
  /// The score of class 0 minus that of class 1.
  std::vector<float> leads;
  /// Offsets minus target offsets; zeros unless given.
  std::vector<float> errors = {};
  std::vector<float> doffsets = {};
  std::vector<float> dscores = {};

  double run(ThreadTeam& team) {
    const std::size_t rows = classes.size();
    errors.resize(rows * 4);
    std::vector<float> scores(rows * 2);
    for (std::size_t i = 0; i < rows; ++i) {
      scores[2 * i] = leads[i];
    }
    const std::vector<float> targets(rows * 4);
    doffsets.assign(rows * 4, 7);
    dscores.assign(rows * 2, 7);
    MultiboxLoss args{.examples = examples,
                      .anchors = static_cast<std::int64_t>(rows) / examples,
                      .score_count = 2,
                      .offsets = errors.data(),
                      .scores = scores.data(),
                      .target_offsets = targets.data(),
                      .classes = classes.data(),
                      .doffsets = doffsets.data(),
                      .dscores = dscores.data()};
    std::vector<double> workspace(multibox_workspace_bytes(args) / sizeof(double) + 1);
    args.workspace = workspace.data();
    return multibox_loss(team, args);
  }
  /// True if the anchor counts for the classification.
  [[nodiscard]] bool counts(std::size_t anchor) const { return dscores[2 * anchor] != 0; }
};

/// The cross-entropy of class 0 with that lead.
double background_loss(double lead) { return std::log1p(std::exp(-lead)); }

TEST(MultiboxLoss, CountsThreeHardBackgroundAnchorsPerMatchedOne) {
  test::for_teams([](ThreadTeam& team) {
    Batch batch{.classes = {0, 0, 1, 0, 0, 0}, .leads = {2, -1, 0.5F, 3, -2, 1}};
    const double matched = std::log1p(std::exp(0.5));
    EXPECT_NEAR(batch.run(team),
                matched + background_loss(-1) + background_loss(-2) + background_loss(1), 1e-6);
    const std::vector<bool> counted{false, true, true, false, true, true};
    for (std::size_t a = 0; a < counted.size(); ++a) {
      EXPECT_EQ(batch.counts(a), counted[a]) << a;
    }
  });
}

TEST(MultiboxLoss, TakesTheFirstOfEqualBackgroundAnchors) {
  test::for_teams([](ThreadTeam& team) {
    Batch batch{.classes = {0, 0, 0, 0, 1, 0}, .leads = {1, 1, 1, 1, 1, 1}};
    batch.run(team);
    const std::vector<bool> counted{true, true, true, false, true, false};
    for (std::size_t a = 0; a < counted.size(); ++a) {
      EXPECT_EQ(batch.counts(a), counted[a]) << a;
    }
  });
}

TEST(MultiboxLoss, AddsTheHuberLossOfMatchedAnchors) {
  test::for_teams([](ThreadTeam& team) {
    Batch batch{.classes = {1, 0}, .leads = {0, 50}, .errors = {0.5F, -2, 0, 1, 9, 9, 9, 9}};
    EXPECT_NEAR(batch.run(team), std::log(2) + 0.125 + 1.5 + 0.5, 1e-6);
    EXPECT_EQ(batch.doffsets, (std::vector<float>{0.5F, -1, 0, 1, 0, 0, 0, 0}));
    EXPECT_NEAR(batch.dscores[0], 0.5, 1e-6);
    EXPECT_NEAR(batch.dscores[1], -0.5, 1e-6);
  });
}

TEST(MultiboxLoss, IsTheMeanOfTheExamplesPerMatchedAnchor) {
  test::for_teams([](ThreadTeam& team) {
    Batch batch{.examples = 2, .classes = {1, 1, 0, 0}, .leads = {0, 0, 5, 5}};
    // The second example has no match.
    EXPECT_NEAR(batch.run(team), std::log(2) / 2, 1e-6);
    EXPECT_NEAR(batch.dscores[0], 0.5 / 2 / 2, 1e-6);
    EXPECT_FALSE(batch.counts(2));
    EXPECT_FALSE(batch.counts(3));
  });
}

TEST(MultiboxLoss, IsNaNForAScoreThatIsNaN) {
  test::for_teams([](ThreadTeam& team) {
    Batch batch{.classes = {1, 0, 0, 0, 0, 0}, .leads = {0, 1, 2, std::nanf(""), 3, 4}};
    EXPECT_TRUE(std::isnan(batch.run(team)));
  });
}

TEST(MultiboxLoss, RefusesAClassWithoutAScore) {
  test::for_teams([](ThreadTeam& team) {
    for (const std::int32_t wrong : {-1, 2}) {
      Batch batch{.classes = {wrong}, .leads = {0}};
      EXPECT_THROW(batch.run(team), DataError) << wrong;
    }
  });
}

}  // namespace
}  // namespace bench::cpu
