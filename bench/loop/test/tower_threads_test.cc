#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "bench/loop/session.h"
#include "variable_mgmt/towers/barrier.h"
#include "variable_mgmt/towers/tower_threads.h"

namespace bench {
namespace {

using testing::ElementsAre;

TEST(TowerThreads, ThrowWhatFailedFirstAndNotWhatWaitedForIt) {
  TowerThreads threads(3);
  Barrier barrier(3);
  try {
    threads.run(
        [&](int tower) {
          if (tower == 1) {
            throw DataError("no data");
          }
          barrier.arrive();
        },
        [&](int) { barrier.cancel(); });
    FAIL();
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "tower 1: no data");
  }
  // They can be called again.
  std::vector<int> called(3);
  threads.run([&](int tower) { called[static_cast<std::size_t>(tower)] = tower + 1; });
  EXPECT_THAT(called, ElementsAre(1, 2, 3));
}

template <class Error>
std::string named_failure(const Error& error) {
  TowerThreads threads(2);
  try {
    threads.run([&](int tower) {
      if (tower == 1) {
        throw error;
      }
    });
  } catch (const std::exception& kept) {
    return kept.what();
  }
  return "nothing failed";
}

TEST(TowerThreads, NameWhatLibrariesThrowToo) {
  EXPECT_EQ(named_failure(std::bad_alloc()), "tower 1: the host is out of memory (std::bad_alloc)");
  EXPECT_EQ(named_failure(std::runtime_error("no luck")), "tower 1: no luck");
  EXPECT_EQ(named_failure(std::out_of_range("too far")), "tower 1: too far");
  EXPECT_EQ(named_failure(WriteError("full")), "tower 1: full");
  EXPECT_THAT(named_failure(std::system_error(EAGAIN, std::generic_category(), "thread")),
              testing::StartsWith("tower 1: thread: "));
  // An end that the user requested.
  EXPECT_EQ(named_failure(LossError("the loss is nan")), "the loss is nan");
}

TEST(TowerThreads, NeedNoOtherThreadForALoneTower) {
  TowerThreads threads(1);
  const auto own = std::this_thread::get_id();
  threads.run([&](int) { EXPECT_EQ(std::this_thread::get_id(), own); });
  try {
    threads.run([](int) { throw UsageError("no"); });
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "no");
  }
}

}  // namespace
}  // namespace bench
