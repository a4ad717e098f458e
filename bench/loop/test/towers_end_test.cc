// Tests that a run of several towers ends soon, whatever ends it and on whichever tower. It reports
// the cause and leaves no thread.

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <iterator>
#include <thread>

#include "bench/loop/test/towers_run.h"

namespace bench {
namespace {

constexpr int kEndingTowers = 3;
constexpr std::chrono::seconds kSoon(2);

std::ptrdiff_t threads_of_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

/// What ends a run.
enum class Ending : std::uint8_t { input, kernel, update, interrupt };
constexpr std::array kEndings{Ending::input, Ending::kernel, Ending::update, Ending::interrupt};

TowersRun ending_run(std::string_view strategy, Ending ending, int tower) {
  TowersRun run = run_of(strategy, kEndingTowers);
  run.settings.execution.steps.num_batches = 1000;
  run.faulty_tower = tower;
  switch (ending) {
    case Ending::input:
      run.input_fails_at = kGoodSteps;
      break;
    case Ending::kernel:
      run.fault = Fault::kernel;
      break;
    case Ending::update:
      run.fault = Fault::optimizer;
      break;
    case Ending::interrupt:
      run.interrupted = [](std::int64_t steps) { return steps == kGoodSteps; };
      break;
  }
  return run;
}

std::string told_of(Ending ending, int tower) {
  switch (ending) {
    case Ending::input:
      return "the shard ended";
    case Ending::kernel:
      return fmt::format("tower {}: the kernel broke", tower);
    case Ending::update:
      return fmt::format("tower {}: the update broke", tower);
    case Ending::interrupt:
      break;
  }
  return "";
}

/// Runs it and returns the message of the exception.
std::string error_of(TowersRun& run) {
  try {
    run.run();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(TowersEnd, SoonWithTheirCauseAndLeaveNoThread) {
  for (const std::string_view strategy : {"parameter_server", "replicated", "independent"}) {
    for (const Ending ending : kEndings) {
      for (const int tower : {0, kEndingTowers - 1}) {
        const std::string what =
            fmt::format("{}, ending {}, tower {}", strategy, static_cast<int>(ending), tower);
        TowersRun run = ending_run(strategy, ending, tower);
        const std::ptrdiff_t before = threads_of_process();
        const auto begun = std::chrono::steady_clock::now();
        EXPECT_EQ(error_of(run), told_of(ending, tower)) << what;
        // A joined thread may be listed for a moment.
        while (threads_of_process() != before && std::chrono::steady_clock::now() - begun < kSoon) {
          std::this_thread::yield();
        }
        EXPECT_EQ(threads_of_process(), before) << what;
        // Includes everything that precedes the failure.
        EXPECT_LE(std::chrono::steady_clock::now() - begun, kSoon) << what;
        EXPECT_EQ(run.result.steps.size(), static_cast<std::size_t>(kGoodSteps)) << what;
        EXPECT_EQ(run.result.stop == Stop::interrupted, ending == Ending::interrupt) << what;
      }
    }
  }
}

}  // namespace
}  // namespace bench
