#include "bench/plan/first_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "bench/flags/test/usage_error.h"
#include "bench/plan/network.h"
#include "bench/plan/resolve_settings.h"
#include "results/environment/test/fake_clock.h"

namespace bench {
namespace {

using ::testing::ThrowsMessage;

struct Lenet {
  RunSettings settings = resolve_settings(parse({"--model=lenet", "--batch_size=1"}));
  Graph network = build_run_network(settings.workload, 1);
  RunTensorFiles files{settings, network};
  std::ostringstream out = {};
  FakeClock clock = {};
  bool end_asked = false;
  PhaseWatch phases{out, clock, {}, [this] { return end_asked; }};
};

TEST(FirstValues, AreDrawnFromTheSeed) {
  Lenet run;
  FirstValues values(run.settings.workload, run.network, run.files);
  EXPECT_EQ(values.get(run.phases), initial_values(run.network, 1234));
}

TEST(FirstValues, EndWithTheRun) {
  Lenet run;
  run.end_asked = true;
  FirstValues values(run.settings.workload, run.network, run.files);
  EXPECT_THAT([&] { values.get(run.phases); },
              ThrowsMessage<RunEnded>("while drawing the first values"));
}

}  // namespace
}  // namespace bench
