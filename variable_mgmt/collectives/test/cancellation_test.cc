#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include "kernels/test/far_device.h"
#include "variable_mgmt/collectives/collective.h"
#include "variable_mgmt/collectives/test/members.h"

namespace bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::size_t kElements = 100000;

/// The member's elements. They live as long as its thread: the others may add to them until the
/// member's destructor returns.
float* buffer() {
  thread_local std::vector<float> elements(kElements);
  return elements.data();
}

/// Adds one buffer view of the member.
void add_once(const TestMember& self, const Patience& patience) {
  const auto handle = self.member.start({.data = buffer(), .elements = kElements});
  self.member.wait(handle, patience);
}

std::unique_ptr<Collective> make_collective(int members, const std::string& spec = "shm") {
  return make_host_collective({.names = tower_names(members), .spec = parse_all_reduce_spec(spec)});
}

/// Simulates a hanging tower: returns once another one fails.
void hang(const Collective& collective) {
  while (collective.failure().empty()) {
    std::this_thread::yield();
  }
}

TEST(Cancellation, DeadlineNamesTheMissingMembers) {
  const auto collective = make_collective(3);
  const auto errors = run_members(*collective, [&](const TestMember& self) {
    if (self.rank == 2) {
      return hang(*collective);
    }
    const auto soon = milliseconds(self.rank == 0 ? 50 : 100000);
    add_once(self, {.deadline = steady_clock::now() + soon});
  });
  EXPECT_THAT(errors[0], StartsWith("all-reduce 0 of 100000 f32 elements missed its deadline: "));
  EXPECT_THAT(errors[0], HasSubstr("tower 2 has not arrived"));
  EXPECT_THAT(errors[1], StartsWith("tower 0: all-reduce 0"));
  EXPECT_EQ(errors[2], "");
  EXPECT_EQ(collective->failure(), fmt::format("tower 0: {}", errors[0]));
}

TEST(Cancellation, OneMembersFailureEndsAllThatWait) {
  for (const std::string spec : {"shm", "xring", "pscpu", "rechd", "tree"}) {
    const auto collective = make_collective(4, spec);
    std::atomic<int> cancelled{0};
    const auto errors = run_members(*collective, [&](const TestMember& self) {
      if (self.rank == 3) {
        add_once(self, test_patience());
        collective->cancel(self.rank, "its memory is full");
        return;
      }
      try {
        add_once(self, test_patience());
        add_once(self, test_patience());
      } catch (const Cancelled&) {
        ++cancelled;
        throw;
      }
    });
    EXPECT_EQ(cancelled, 3) << spec;
    for (const int rank : {0, 1, 2}) {
      EXPECT_EQ(errors[static_cast<std::size_t>(rank)], "tower 3: its memory is full") << spec;
    }
  }
}

TEST(Cancellation, LeavingWithGradientsUnderWayCancelsTheOthers) {
  const auto collective = make_collective(3);
  const auto errors = run_members(*collective, [](const TestMember& self) {
    const auto handle = self.member.start({.data = buffer(), .elements = kElements});
    if (self.rank == 1) {
      throw DeviceError("lost");
    }
    self.member.wait(handle, test_patience());
    // Tower 1 may have done its part in time, so start a second sum.
    self.member.wait(self.member.start({.data = buffer(), .elements = 1}), test_patience());
  });
  EXPECT_EQ(errors[1], "lost");
  EXPECT_EQ(errors[0], "tower 1: left before its gradients were reduced");
  EXPECT_EQ(errors[2], errors[0]);
}

TEST(Cancellation, LeavingBeforeTheOthersStartCancelsThem) {
  const auto collective = make_collective(2);
  const auto errors = run_members(*collective, [](const TestMember& self) {
    add_once(self, test_patience());
    if (self.rank == 0) {
      add_once(self, test_patience());
    }
  });
  EXPECT_EQ(errors[0], "tower 1: left before its gradients were reduced");
  EXPECT_EQ(errors[1], "");
}

TEST(Cancellation, ATokenEndsAWait) {
  const auto collective = make_collective(2);
  const auto errors = run_members(*collective, [&](const TestMember& self) {
    if (self.rank == 1) {
      hang(*collective);
    } else {
      int asked = 0;
      add_once(self, {.cancelled = [&] { return ++asked > 3; }});
    }
  });
  EXPECT_EQ(errors[0],
            "all-reduce 0 of 100000 f32 elements was cancelled: tower 1 has not arrived");
}

TEST(Cancellation, DifferentBufferViewsAreRefusedByName) {
  const auto collective = make_collective(2);
  const auto errors = run_members(*collective, [](const TestMember& self) {
    const auto handle =
        self.member.start({.data = buffer(), .elements = self.rank == 0 ? 10U : 20U});
    self.member.wait(handle, test_patience());
  });
  EXPECT_THAT(collective->failure(), HasSubstr(", but another member's has "));
  EXPECT_THAT(errors[0] + errors[1], HasSubstr("20 f32 elements and index 0"));
}

TEST(Cancellation, AfterAFailureNothingBegins) {
  const auto collective = make_collective(2);
  collective->cancel(1, "lost");
  collective->cancel(0, "later");
  EXPECT_EQ(collective->failure(), "tower 1: lost");
  const auto errors =
      run_members(*collective, [](const TestMember& self) { add_once(self, test_patience()); });
  EXPECT_EQ(errors[0], "tower 1: lost");
  EXPECT_EQ(errors[1], "tower 1: lost");
}

TEST(Cancellation, EndsMembersWithCopiesUnderWay) {
  for (const FarSchedule& schedule : far_schedules(3)) {
    const auto collective = make_collective(3);
    const auto errors = run_members(
        *collective,
        [&](const TestMember& self) {
          if (self.rank == 2) {
            return hang(*collective);
          }
          const auto soon = milliseconds(self.rank == 0 ? 20 : 100000);
          const auto memory = self.backend.allocate(kElements * sizeof(float));
          const auto handle = self.member.start({.data = memory->data(), .elements = kElements});
          try {
            self.member.wait(handle, {.deadline = steady_clock::now() + soon});
          } catch (const std::exception&) {
            finish(self.stream);  // The owner must wait before it frees the memory.
            throw;
          }
        },
        [&](int) { return make_far_backend(make_reference_backend(), schedule); });
    EXPECT_THAT(errors[0], HasSubstr("tower 2 has not arrived"));
    EXPECT_THAT(errors[1], StartsWith("tower 0: all-reduce 0"));
  }
}

}  // namespace
}  // namespace bench
