#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>
#include <vector>

#include "kernels/onednn/onednn_backend.h"

namespace bench {
namespace {

/// Creates a backend on each of `towers` threads concurrently, like the towers of a run on a
/// machine with hidden AMX.
[[noreturn]] void make_limited_backends(int towers) {
  {
    std::vector<std::jthread> threads;
    for (int tower = 0; tower < towers; ++tower) {
      threads.emplace_back([] {
        const auto backend =
            make_onednn_backend({.processors = {0}, .pin = false, .max_isa = "SSE41"});
      });
    }
  }
  std::exit(onednn_isa() == "sse41" ? EXIT_SUCCESS : EXIT_FAILURE);
}

// The limit holds for a process, so this test uses a separate process.
TEST(OnednnBackendDeathTest, TakesTheSameLimitOnEveryTower) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(make_limited_backends(4), testing::ExitedWithCode(EXIT_SUCCESS), "");
}

}  // namespace
}  // namespace bench
