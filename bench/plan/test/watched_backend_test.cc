#include "bench/plan/watched_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "bench/flags/test/usage_error.h"
#include "bench/plan/network.h"
#include "bench/plan/resolve_settings.h"
#include "kernels/reference/reference_backend.h"
#include "results/environment/test/fake_clock.h"
#include "variable_mgmt/towers/tower.h"

namespace bench {
namespace {

using ::testing::ThrowsMessage;

class WatchedPlanning : public ::testing::Test {
 protected:
  [[nodiscard]] Graph graph() const { return build_run_graph(settings_, *backend_, 2); }

  RunSettings settings_ = resolve_settings(parse({"--model=lenet", "--batch_size=2"}));
  std::ostringstream out_;
  FakeClock clock_;
  /// The number of queries before the run is asked to end.
  int patience_ = 1000000;
  PhaseWatch phases_{out_, clock_, {}, [this] { return --patience_ < 0; }};
  std::unique_ptr<Backend> backend_ = watch_planning(make_reference_backend(), phases_);
};

TEST_F(WatchedPlanning, EndsBetweenTwoLayers) {
  const Graph graph = this->graph();
  patience_ = 3;
  EXPECT_THAT([&] { Plan(graph, *backend_, {}); }, ThrowsMessage<RunEnded>("while planning"));
}

TEST_F(WatchedPlanning, EndsBetweenTwoKernels) {
  const Graph graph = this->graph();
  const LoweredGraph lowered = lower(graph, *backend_, {});
  patience_ = 0;
  EXPECT_THAT([&] { lowered.steps.front().make(); }, ThrowsMessage<RunEnded>("while planning"));
}

TEST_F(WatchedPlanning, DoesNotInterruptStepsAndVariables) {
  const Graph graph = this->graph();
  const InitialValues values = initial_values(build_run_network(settings_.workload, 2), 1);
  Tower tower(graph, *backend_, {}, values);
  patience_ = 0;
  const std::vector<float> images(2 * 3 * 28 * 28, 1);
  const std::vector<std::int32_t> labels = {0, 1};
  tower.run_canonical(images, labels, 0);
  EXPECT_EQ(tower.executor().read_variable("fc.bias"), values.at("fc.bias"));
}

}  // namespace
}  // namespace bench
