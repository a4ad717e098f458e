#include <gtest/gtest.h>

#include <cmath>

#include "kernels/reference/reference_backend.h"
#include "kernels/test/case_runner.h"
#include "models/ops/ctc_loss.h"

namespace bench {
namespace {

/// The loss of one example with these labels and equal probabilities of all classes.
double loss_of(std::int64_t frames, std::int64_t classes, const std::vector<double>& labels) {
  const auto count = static_cast<std::int64_t>(labels.size());
  Graph graph;
  const ValueId logits =
      graph.add_input("logits", {.dtype = DType::f64, .shape = {frames, 1, classes}});
  const auto whole = [&](const char* name, const Shape& shape) {
    return graph.add_input(name, {.dtype = DType::s32, .shape = shape});
  };
  const ValueId loss = graph.add_node(kCtcLoss, "loss", {},
                                      {logits, whole("labels", {1, count}),
                                       whole("label_counts", {1}), whole("frame_counts", {1})})[0];
  graph.set_output("loss", loss);
  const auto backend = make_reference_backend();
  GraphRunner runner(graph, *backend, DataFormat::automatic);
  runner.set("logits", std::vector<double>(static_cast<std::size_t>(frames * classes)));
  runner.set("labels", labels);
  runner.set("label_counts", std::vector{static_cast<double>(count)});
  runner.set("frame_counts", std::vector{static_cast<double>(frames)});
  runner.run();
  return runner.output("loss")[0];
}

TEST(ReferenceCtcLoss, CountsThePathsOfEqualProbability) {
  // 35 and 15 of 243 paths.
  EXPECT_NEAR(loss_of(5, 3, {0, 1}), std::log(243.0 / 35), 1e-12);
  EXPECT_NEAR(loss_of(5, 3, {0, 0}), std::log(243.0 / 15), 1e-12);
}

TEST(ReferenceCtcLoss, IsInfiniteForTooFewFrames) {
  EXPECT_EQ(loss_of(2, 3, {0, 0}), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace bench
