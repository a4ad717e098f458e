#include "kernels/cpu/thread_team.h"

#include <gmock/gmock.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include "kernels/cpu/affinity.h"
#include "models/base/errors.h"

namespace bench::cpu {
namespace {

TEST(ThreadTeam, RunsEachThreadOnce) {
  for (int threads = 1; threads <= 5; ++threads) {
    ThreadTeam team(std::vector<int>(static_cast<std::size_t>(threads), 0), false);
    std::vector<std::atomic<int>> calls(static_cast<std::size_t>(threads));
    for (int round = 0; round < 3; ++round) {
      team.parallel([&](int thread) { ++calls[static_cast<std::size_t>(thread)]; });
    }
    for (const auto& count : calls) {
      EXPECT_EQ(count, 3);
    }
  }
}

TEST(ThreadTeam, SplitsInOrderWithoutGapsAtMultiplesOfTheGrain) {
  for (const std::int64_t count : {0, 1, 15, 16, 17, 100, 1023}) {
    for (const std::int64_t grain : {1, 4, 16}) {
      for (int parts = 1; parts <= 7; ++parts) {
        std::int64_t next = 0;
        std::int64_t shortest = count;
        std::int64_t longest = 0;
        for (int part = 0; part < parts; ++part) {
          const Range range = ThreadTeam::split(count, parts, part, grain);
          EXPECT_EQ(range.begin, next);
          EXPECT_TRUE(range.begin % grain == 0 || range.begin == count);
          next = range.end;
          shortest = std::min(shortest, range.count());
          longest = std::max(longest, range.count());
        }
        EXPECT_EQ(next, count);
        EXPECT_LE(longest - shortest, 2 * grain - 1);
      }
    }
  }
}

TEST(ThreadTeam, CoversEveryItemOnce) {
  ThreadTeam team({0, 0, 0}, false);
  for (const std::int64_t count : {0, 1, 7, 8, 9, 1000}) {
    std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
    team.for_ranges(count, 4, [&](Range range) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        ++visits[static_cast<std::size_t>(i)];
      }
    });
    EXPECT_TRUE(std::all_of(visits.begin(), visits.end(), [](int v) { return v == 1; }));
  }
}

TEST(ThreadTeam, AddsTermsInTheOrderOfThreads) {
  ThreadTeam team({0, 0, 0}, false);
  const double large = 1e17;
  const std::vector<double> terms{large, 1, -large};
  EXPECT_EQ(team.sum([&](int thread) { return terms[static_cast<std::size_t>(thread)]; }),
            large + 1 - large);
}

TEST(ThreadTeam, PinsItsThreadsAndFreesThemAfterwards) {
  const std::vector<int> before = allowed_processors();
  std::vector<int> processors;
  for (std::size_t i = 0; i < std::min<std::size_t>(before.size(), 3); ++i) {
    processors.push_back(before[i]);
  }
  {
    ThreadTeam team(processors, true);
    std::vector<std::vector<int>> seen(processors.size());
    team.parallel(
        [&](int thread) { seen[static_cast<std::size_t>(thread)] = allowed_processors(); });
    for (std::size_t i = 0; i < processors.size(); ++i) {
      EXPECT_THAT(seen[i], ::testing::ElementsAre(processors[i]));
    }
  }
  EXPECT_EQ(allowed_processors(), before);
  ThreadTeam team(processors, false);
  team.parallel([&](int) { EXPECT_EQ(allowed_processors(), before); });
}

TEST(ThreadTeam, IsSeparateForEachHostThread) {
  std::atomic<int> calls = 0;
  std::vector<std::jthread> hosts;
  for (int host = 0; host < 3; ++host) {
    hosts.emplace_back([&] {
      ThreadTeam team({0, 0}, false);
      for (int round = 0; round < 10; ++round) {
        team.parallel([&](int) { ++calls; });
      }
    });
  }
  hosts.clear();
  EXPECT_EQ(calls, 3 * 2 * 10);
}

TEST(ThreadTeam, RefusesInvalidArguments) {
  EXPECT_THROW(ThreadTeam({}, false), UsageError);
  EXPECT_THROW(ThreadTeam({-1}, false), DeviceError);
  EXPECT_THROW(ThreadTeam({CPU_SETSIZE}, false), DeviceError);
  EXPECT_THROW(ThreadTeam({CPU_SETSIZE - 1}, true), DeviceError);
}

TEST(ThreadTeam, StartsAllThreadsDespiteTheEnvironment) {
  const int before = omp_get_max_active_levels();
  omp_set_max_active_levels(0);  // OMP_MAX_ACTIVE_LEVELS=0: a team is its first thread
  {
    ThreadTeam team({0, 0}, false);
    std::array<std::thread::id, 2> seen;
    team.parallel(
        [&](int thread) { seen[static_cast<std::size_t>(thread)] = std::this_thread::get_id(); });
    EXPECT_NE(seen[0], seen[1]);
  }
  omp_set_max_active_levels(before);
}

TEST(ThreadTeam, IsRefusedWhereTheSystemGivesNoThreads) {
  pthread_attr_t before;
  pthread_getattr_default_np(&before);
  pthread_attr_t huge;
  pthread_attr_init(&huge);
  pthread_attr_setstacksize(&huge, std::size_t{1} << 50U);  // more than the address space
  pthread_setattr_default_np(&huge);
  EXPECT_THROW(ThreadTeam({0, 0, 0}, false), DeviceError);
  pthread_setattr_default_np(&before);
}

TEST(ThreadTeam, RefusesOtherHostThreads) {
  ThreadTeam team({0, 0}, false);
  std::jthread([&] { EXPECT_THROW(team.parallel([](int) {}), InternalError); });
}

}  // namespace
}  // namespace bench::cpu
