#include "bench/loop/feeding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>

#include "bench/loop/test/residual.h"
#include "bench/loop/test/several_towers.h"
#include "bench/plan/input.h"
#include "kernels/reference/reference_backend.h"
#include "results/environment/clock.h"

namespace bench {
namespace {

using testing::FloatNear;
using testing::Pointwise;

/// The logits of two towers for a batch of 6 images each.
std::vector<std::vector<float>> logits_of(std::int64_t at_once) {
  RunSettings settings = residual();
  settings.workload.mode = RunMode::forward_only;
  settings.workload.batch = 6;
  settings.workload.towers = 2;
  settings.execution.micro_batch = at_once;
  std::unique_ptr<InputSource> input;
  SeveralTowers towers(
      settings, [](int) { return make_reference_backend(); },
      initial_values(build_run_network(settings.workload, 1), 1));
  input = make_run_input(settings, (*towers).first().executor().input_layout("images"));
  const SteadyClock clock;
  std::chrono::nanoseconds waited{};
  BatchesAhead batches(*input, clock, waited, [] { return false; });
  Feeding feeding(settings.workload, at_once, *towers, batches);
  EXPECT_TRUE(feeding.begin_step(/*more=*/false));
  std::vector<std::vector<float>> logits(2);
  (*towers).run([&](int number) {
    Tower& tower = (*towers)[number];
    for (std::int64_t run = 0; run < settings.workload.batch / at_once; ++run) {
      feeding.feed(number, run);
      tower.upload_parameters();
      tower.enqueue_run();
      tower.wait();
      const std::vector<float> part = tower.executor().read_output_as_floats("logits");
      std::vector<float>& all = logits[static_cast<std::size_t>(number)];
      all.insert(all.end(), part.begin(), part.end());
    }
  });
  return logits;
}

TEST(Feeding, GivesEachMicroBatchItsImages) {
  const auto whole = logits_of(6);
  const auto parts = logits_of(2);
  ASSERT_EQ(whole[0].size(), 6U * 5);
  for (std::size_t tower = 0; tower < whole.size(); ++tower) {
    EXPECT_THAT(parts[tower], Pointwise(FloatNear(1e-5F), whole[tower]));
  }
  // The images differ.
  const auto first = whole[0].begin();
  constexpr std::ptrdiff_t kLogitsOfPart = 10;
  EXPECT_FALSE(std::equal(first, first + kLogitsOfPart, first + kLogitsOfPart));
  EXPECT_NE(whole[0], whole[1]);
}

}  // namespace
}  // namespace bench
