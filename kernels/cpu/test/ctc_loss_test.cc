#include "kernels/cpu/ctc_loss.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/cpu/test/kernel_test.h"
#include "models/base/errors.h"
#include "models/base/philox.h"

namespace bench::cpu {
namespace {

/// A batch, and its derivative after run().
struct Batch {
  std::int64_t frames = 0;
  std::int64_t classes = 0;
  std::int64_t labels_stride = 0;
  std::vector<std::int32_t> labels;
  std::vector<std::int32_t> label_counts;
  std::vector<std::int32_t> frame_counts;
  /// Zeros unless given.
  std::vector<float> logits = {};
  std::vector<float> dlogits = {};

  [[nodiscard]] std::int64_t examples() const {
    return static_cast<std::int64_t>(label_counts.size());
  }
  double run(ThreadTeam& team) {
    logits.resize(static_cast<std::size_t>(frames * examples() * classes));
    dlogits.assign(logits.size(), 7);
    CtcLoss args{.frames = frames,
                 .examples = examples(),
                 .classes = classes,
                 .labels_stride = labels_stride,
                 .logits = logits.data(),
                 .labels = labels.data(),
                 .label_counts = label_counts.data(),
                 .frame_counts = frame_counts.data(),
                 .dlogits = dlogits.data()};
    std::vector<double> workspace(ctc_workspace_bytes(args, team.size()) / sizeof(double));
    args.workspace = workspace.data();
    return ctc_loss(team, args);
  }
};

/// One example, all of whose labels and frames count.
Batch one(std::int64_t frames, std::int64_t classes, const std::vector<std::int32_t>& labels) {
  const auto count = static_cast<std::int32_t>(labels.size());
  return {.frames = frames,
          .classes = classes,
          .labels_stride = count,
          .labels = labels,
          .label_counts = {count},
          .frame_counts = {static_cast<std::int32_t>(frames)}};
}

/// The labels that a path spells: repeated classes count once, and blanks do not count.
std::vector<std::int32_t> spelled(const std::vector<std::int32_t>& path, std::int32_t blank) {
  std::vector<std::int32_t> labels = path;
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  std::erase(labels, blank);
  return labels;
}

/// Minus the logarithm of the sum over all paths.
double loss_of_all_paths(const Batch& batch) {
  const auto classes = static_cast<std::size_t>(batch.classes);
  const auto frames = static_cast<std::size_t>(batch.frames);
  double sum = 0;
  std::vector<std::int32_t> path(frames);
  const auto paths = static_cast<std::int64_t>(std::pow(batch.classes, batch.frames));
  for (std::int64_t number = 0; number < paths; ++number) {
    double probability = 1;
    std::int64_t rest = number;
    for (std::size_t t = 0; t < frames; ++t) {
      const float* const logits = batch.logits.data() + t * classes;
      const auto chosen = static_cast<std::size_t>(rest % batch.classes);
      rest /= batch.classes;
      path[t] = static_cast<std::int32_t>(chosen);
      double total = 0;
      for (std::size_t c = 0; c < classes; ++c) {
        total += std::exp(double{logits[c]});
      }
      probability *= std::exp(double{logits[chosen]}) / total;
    }
    if (spelled(path, static_cast<std::int32_t>(batch.classes) - 1) == batch.labels) {
      sum += probability;
    }
  }
  return -std::log(sum);
}

TEST(CtcLoss, CountsThePathsOfEqualProbability) {
  test::for_teams([](ThreadTeam& team) {
    // 35 and 15 of 243 paths.
    EXPECT_NEAR(one(5, 3, {0, 1}).run(team), std::log(243.0 / 35), 1e-12);
    EXPECT_NEAR(one(5, 3, {0, 0}).run(team), std::log(243.0 / 15), 1e-12);
  });
}

TEST(CtcLoss, IsTheSumOverAllPaths) {
  test::for_teams([](ThreadTeam& team) {
    RandomStream random(1);
    for (const std::vector<std::int32_t>& labels :
         std::vector<std::vector<std::int32_t>>{{}, {0}, {0, 0}, {0, 1}, {1, 0, 1}, {1, 1, 0}}) {
      Batch batch = one(6, 3, labels);
      batch.logits.resize(6 * 3);
      std::ranges::generate(batch.logits, [&] { return 2 * random.normal(); });
      EXPECT_NEAR(batch.run(team), loss_of_all_paths(batch), 1e-9) << labels.size();
    }
  });
}

TEST(CtcLoss, IgnoresWhatExceedsTheCounts) {
  test::for_teams([](ThreadTeam& team) {
    Batch alone = one(2, 3, {1});
    Batch padded{.frames = 4,
                 .classes = 3,
                 .labels_stride = 3,
                 .labels = {1, -5, 99, 0, 0, 0},
                 .label_counts = {1, 0},
                 .frame_counts = {2, 0}};
    // The second example is empty.
    EXPECT_NEAR(padded.run(team), alone.run(team) / 2, 1e-12);
    for (std::size_t t = 0; t < 4; ++t) {
      for (std::size_t c = 0; c < 3; ++c) {
        const float expected = t < 2 ? alone.dlogits[t * 3 + c] / 2 : 0;
        EXPECT_NEAR(padded.dlogits[t * 6 + c], expected, 1e-7);
        EXPECT_EQ(padded.dlogits[t * 6 + 3 + c], 0);
      }
    }
  });
}

TEST(CtcLoss, IsInfiniteForTooFewFrames) {
  test::for_teams([](ThreadTeam& team) {
    // Equal labels need a blank between them.
    Batch batch = one(2, 3, {0, 0});
    EXPECT_EQ(batch.run(team), std::numeric_limits<double>::infinity());
    EXPECT_TRUE(std::ranges::all_of(batch.dlogits, [](float value) { return std::isnan(value); }));
    EXPECT_EQ(one(0, 3, {0}).run(team), std::numeric_limits<double>::infinity());
  });
}

TEST(CtcLoss, RefusesLabelsAndCountsOutsideTheirRange) {
  test::for_teams([](ThreadTeam& team) {
    const auto refused = [&](Batch batch) { EXPECT_THROW(batch.run(team), DataError); };
    refused(one(5, 3, {2}));
    refused(one(5, 3, {-1}));
    Batch labels = one(5, 3, {0});
    labels.label_counts = {2};
    refused(labels);
    Batch frames = one(5, 3, {0});
    frames.frame_counts = {6};
    refused(frames);
  });
}

}  // namespace
}  // namespace bench::cpu
