#include "bench/runs/batch_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

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
      : SmallHost(cat("MemAvailable: ", mib * 1024 + kUnplannedBytes / 1024, " kB\n")) {}
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

TEST(LargestBatchThatFits, LeavesATwentiethToWhatIsNotPlanned) {
  constexpr std::int64_t kAvailable = 120;
  SmallHost small(kAvailable);
  const ChosenBatch chosen = choose_largest_batch(lenet("--batch_size=max"), *small);
  EXPECT_LE(need(*small, chosen.batch), 114 * kMiB);
  EXPECT_GT(need(*small, chosen.batch + 1), 114 * kMiB);
  EXPECT_EQ(chosen.choice.rule, "max");
  EXPECT_THAT(chosen.choice.tried, IsEmpty());
  EXPECT_THAT(small.said(), StartsWith(cat("--batch_size=max: batch ", chosen.batch, " needs ")));
  EXPECT_THAT(small.said(), HasSubstr("MiB of the 120.0 MiB that may be used (/proc/meminfo"));
  EXPECT_THAT(small.said(), HasSubstr(cat("; ", chosen.batch + 1, " would need ")));
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
  EXPECT_THAT(usage_error([&] { choose_largest_batch(lenet("--batch_size=max"), *silent); }),
              HasSubstr("is not known (/proc/meminfo tells no MemAvailable); give a number"));
}

TEST(FastestBatch, IsRefusedWhereNotOneImageFits) {
  SmallHost small(12);
  EXPECT_THAT(usage_error([&] { choose_fastest_batch(lenet("--batch_size=auto"), *small); }),
              HasSubstr("--batch_size=auto: not even one image of --model=lenet fits"));
  EXPECT_THAT(small.said(), HasSubstr("batch 1: does not fit into memory\n"));
}

}  // namespace
}  // namespace bench
