#include "variable_mgmt/world/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/base/errors.h"
#include "variable_mgmt/world/gather.h"
#include "variable_mgmt/world/test/processes.h"

namespace bench {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::StartsWith;

TEST(Gather, SendsLongTextsInPieces) {
  FakeNetwork network(3);
  const auto errors = run_processes(network, [](World& world) {
    for (const std::size_t length : {0U, 1U, 3U, 4U, 5U, 11U}) {
      // Only rank 1's text has this length.
      const std::string own = world.rank() == 1 ? std::string("abcdefghijk").substr(0, length) : "";
      const auto task = std::make_shared<Gather>(own, world.rank(), world.size(), /*piece=*/4);
      auto texts = task->result();
      world.submit(task);
      EXPECT_THAT(texts.get(), ElementsAre("", std::string("abcdefghijk").substr(0, length), ""));
    }
  });
  EXPECT_THAT(errors, Each(""));
}

TEST(World, GathersTextsByRank) {
  FakeNetwork network(3);
  const auto errors = run_processes(network, [](World& world) {
    EXPECT_THAT(world.gather(fmt::format("text {}", world.rank())),
                ElementsAre("text 0", "text 1", "text 2"));
    EXPECT_THAT(world.gather(std::string(static_cast<std::size_t>(world.rank()), 'x')),
                ElementsAre("", "x", "xx"));
  });
  EXPECT_THAT(errors, Each(""));
}

TEST(World, GivesEveryRankTheFirstError) {
  FakeNetwork network(3);
  const auto errors = run_processes(network, [](World& world) {
    world.agree("");
    world.agree(world.rank() == 0 ? "" : fmt::format("no memory on {}", world.rank()));
  });
  EXPECT_THAT(errors, Each("rank 1 (host h1): no memory on 1"));
}

TEST(World, OfOneProcessAgreesWithItself) {
  World world;
  EXPECT_EQ(world.size(), 1);
  EXPECT_THAT(world.gather("alone"), ElementsAre("alone"));
  world.agree("");
  EXPECT_THROW(world.agree("no memory"), UsageError);
}

TEST(World, NamesARankThatFallsSilent) {
  FakeNetwork network(3);
  const Ticking ticking(network);
  const auto errors = run_processes(network, [&](World& world) {
    world.set_phase("planning");
    world.gather("");
    if (world.rank() == 2) {
      network.cut(2);
    }
    world.gather("");
  });
  EXPECT_THAT(errors[0], StartsWith("rank 2 (host h2) is lost: no message for "));
  EXPECT_THAT(errors[1], StartsWith("rank 2 (host h2) is lost: no message for "));
}

TEST(World, NamesALostRankInsteadOfTheErrorsOfTheTransport) {
  FakeNetwork network(3);
  const Ticking ticking(network);
  const auto errors = run_processes(network, [&](World& world) {
    world.gather("");
    if (world.rank() == 2) {
      network.break_off(2);
      while (true) {
        world.gather("");
      }
    }
    world.gather("");
    world.gather("");
  });
  EXPECT_THAT(errors[0], StartsWith("rank 2 (host h2) is lost: no message for "));
  EXPECT_THAT(errors[1], StartsWith("rank 2 (host h2) is lost: no message for "));
}

/// A task whose request the transport refuses.
class RefusedTask final : public WorldTask {
 public:
  State advance(Transport& /*transport*/) override {
    throw DeviceError("send: the message is too long");
  }
  void cancel(const std::string& /*reason*/) noexcept override {}
};

TEST(World, ReportsAnErrorOfTheTransportIfNoRankIsLost) {
  FakeNetwork network(2);
  const Ticking ticking(network);
  const auto errors = run_processes(network, [&](World& world) {
    world.gather("");
    if (world.rank() == 0) {
      world.submit(std::make_shared<RefusedTask>());
    }
    world.gather("");
  });
  EXPECT_THAT(errors, Each("send: the message is too long"));
}

TEST(World, BlamesNobodyAfterItWasStoppedItself) {
  FakeNetwork network(2);
  const auto errors = run_processes(network, [&](World& world) {
    world.gather("");
    if (world.rank() == 0) {
      network.advance(std::chrono::minutes(1));
    }
    world.gather("");
  });
  EXPECT_THAT(errors, Each(""));
}

TEST(World, WaitsForARankThatIsSlow) {
  FakeNetwork network(2);
  const Ticking ticking(network);
  const auto errors = run_processes(network, [&](World& world) {
    const auto begin = network.now();
    while (world.rank() == 1 && network.now() - begin < std::chrono::seconds(20)) {
      std::this_thread::yield();
    }
    world.gather("");
  });
  EXPECT_THAT(errors, Each(""));
}

TEST(World, EndsTheWaitForARankThatLeft) {
  FakeNetwork network(3);
  const Ticking ticking(network);
  const auto errors = run_processes(network, [](World& world) {
    if (world.rank() != 1) {
      world.gather("");
    }
  });
  EXPECT_EQ(errors[0], "rank 1 (host h1) left the run");
  EXPECT_EQ(errors[1], "");
  EXPECT_EQ(errors[2], "rank 1 (host h1) left the run");
}

TEST(World, SendsTheReasonAfterItLostARank) {
  FakeNetwork network(3);
  const Ticking ticking(network);
  // Rank 1 itself would wait for an hour.
  const auto errors = run_processes(
      network,
      [&](World& world) {
        world.gather("");
        if (world.rank() == 2) {
          network.cut(2);
          return;
        }
        world.gather("");
      },
      [](int rank) { return rank == 1 ? std::chrono::hours(1) : std::chrono::seconds(3); });
  EXPECT_THAT(errors[0], StartsWith("rank 2 (host h2) is lost: no message for "));
  EXPECT_EQ(errors[1], errors[0]);
}

TEST(World, GivesAllRanksTheReasonOfAFailure) {
  FakeNetwork network(3);
  const auto errors = run_processes(network, [&](World& world) {
    if (world.rank() == 1) {
      world.fail("rank 1: the disk is full");
    }
    world.gather("");
  });
  EXPECT_THAT(errors, Each("rank 1: the disk is full"));
}

TEST(World, ThrowsTheErrorOfOpening) {
  EXPECT_THROW(World([]() -> std::unique_ptr<Transport> { throw UsageError("no MPI"); },
                     settings_of_process("h0", [] { return std::chrono::nanoseconds(0); })),
               UsageError);
}

}  // namespace
}  // namespace bench
