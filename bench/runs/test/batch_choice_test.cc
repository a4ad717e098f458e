#include "bench/runs/batch_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <sstream>
#include <vector>

#include "bench/flags/test/usage_error.h"
#include "bench/plan/resolve_settings.h"
#include "results/environment/test/fake_system.h"

namespace bench {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

/// A machine with this much memory available for planning.
class SmallHost {
 public:
  explicit SmallHost(std::int64_t mib)
      : SmallHost(fmt::format("MemAvailable: {} kB\n", mib * 1024 + kUnplannedBytes / 1024)) {}
  explicit SmallHost(const std::string& meminfo) {
    system_.write("/proc/meminfo", meminfo);
    host_.emplace(streams_, std::vector<std::string>{"bench"}, system_.files());
  }
  /// Sets the kernel's status of this process.
  void tell_status(std::string_view text) const { system_.write("/proc/self/status", text); }
  RunHost& operator*() { return *host_; }
  [[nodiscard]] std::string said() const { return err_.str(); }

 private:
  FakeSystem system_;
  std::ostringstream out_;
  std::ostringstream err_;
  RunStreams streams_{.out = out_, .err = err_};
  std::optional<RunHost> host_;
};

RunSettings lenet(std::string_view batch) {
  return resolve_settings(parse({"--model=lenet", "--device=reference", batch}));
}

std::int64_t need(RunHost& host, std::int64_t batch) {
  RunSettings settings = with_batch(lenet("--batch_size=1"), batch);
  Backend& backend = *host.device(settings).backend;
  const MemoryLimits shared{.host = Unknown{"the limit does not matter here"}};
  return static_cast<std::int64_t>(shared.need_of(plan_run_memory(settings, backend, batch)).host);
}

TEST(LargestBatchThatFits, LeavesATwentiethForUnplannedMemory) {
  constexpr std::int64_t kAvailable = 120;
  SmallHost small(kAvailable);
  const ChosenBatch chosen = choose_largest_batch(lenet("--batch_size=max"), *small);
  EXPECT_LE(need(*small, chosen.batch), 114 * kMiB);
  EXPECT_GT(need(*small, chosen.batch + 1), 114 * kMiB);
  EXPECT_EQ(chosen.choice.rule, "max");
  EXPECT_THAT(chosen.choice.tried, IsEmpty());
  EXPECT_THAT(small.said(),
              StartsWith(fmt::format("--batch_size=max: batch {} needs ", chosen.batch)));
  EXPECT_THAT(small.said(), HasSubstr("MiB of the usable 120.0 MiB (/proc/meminfo"));
  EXPECT_THAT(small.said(), HasSubstr(fmt::format(" Batch {} would need ", chosen.batch + 1)));
}

TEST(LargestBatchThatFits, LeavesRoomForTheListsOfAPlan) {
  SmallHost small(200);
  small.tell_status("VmHWM:\t   40960 kB\nVmRSS:\t   20480 kB\n");
  const ChosenBatch chosen = choose_largest_batch(lenet("--batch_size=max"), *small);
  EXPECT_LE(need(*small, chosen.batch), (190 - 20) * kMiB);
  EXPECT_GT(need(*small, chosen.batch + 1), (190 - 20) * kMiB);
}

TEST(LargestBatchThatFits, IsRefusedWhereNotOneImageFits) {
  SmallHost small(12);  // LeNet's variables fit, their gradients do not.
  EXPECT_THAT(usage_error([&] { choose_largest_batch(lenet("--batch_size=max"), *small); }),
              StartsWith("--batch_size=max: one image needs "));
}

TEST(LargestBatchThatFits, IsRefusedWhereTheMemoryIsNotKnown) {
  SmallHost silent(std::string("nothing\n"));
  EXPECT_THAT(
      usage_error([&] { choose_largest_batch(lenet("--batch_size=max"), *silent); }),
      HasSubstr("the usable memory is unknown (/proc/meminfo has no MemAvailable); give a number"));
}

TEST(FastestBatch, NotesARunThatIsMuchSlowerThanItsTrial) {
  using std::chrono::milliseconds;
  const ChosenBatch chosen{.batch = 8,
                           .choice = {.rule = "auto",
                                      .tried = {{.batch = 4, .images_per_sec = 90},
                                                {.batch = 8, .images_per_sec = 100}}}};
  const auto said = [&](milliseconds step) {
    std::ostringstream err;
    note_slower_than_trial(chosen, std::vector<std::chrono::nanoseconds>(5, step), err);
    return err.str();
  };
  EXPECT_EQ(said(milliseconds(85)), "");
  EXPECT_THAT(said(milliseconds(100)),
              StartsWith("--batch_size=auto: the run reached 80.0 images/sec, 20 % less than the "
                         "short trial (100.0). "));
}

TEST(FastestBatch, IsRefusedWhereNotOneImageFits) {
  SmallHost small(12);
  EXPECT_THAT(usage_error([&] { choose_fastest_batch(lenet("--batch_size=auto"), *small); }),
              HasSubstr("--batch_size=auto: one image of --model=lenet does not fit into memory"));
  EXPECT_THAT(small.said(), HasSubstr("batch 1: does not fit into memory\n"));
}

}  // namespace
}  // namespace bench
