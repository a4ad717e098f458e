#include "results/environment/process_age.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>

#include "results/environment/test/fake_system.h"

namespace bench {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

nanoseconds since_boot() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return seconds(now.tv_sec) + nanoseconds(now.tv_nsec);
}

/// /proc/self/stat of a process that started `start` clock ticks after boot.
std::string stat_text(const std::string& name, const std::string& start) {
  std::string text = fmt::format("4711 ({}) S", name);
  for (int field = 4; field < 22; ++field) {
    text += fmt::format(" {}", field);
  }
  return text + " " + start + " 23 24 25\n";
}

TEST(ProcessAge, IsTheTimeSinceTheKernelsStartTime) {
  const FakeSystem system;
  system.write("/proc/self/stat", stat_text("bench", "0"));
  const nanoseconds before = since_boot();
  const nanoseconds from_boot = process_age(system.files()).value();
  EXPECT_GE(from_boot, before);
  EXPECT_LE(from_boot, since_boot());
  // A start three seconds later, in ticks, makes it three seconds younger.
  system.write("/proc/self/stat", stat_text("bench", fmt::format("{}", 3 * sysconf(_SC_CLK_TCK))));
  const nanoseconds younger = process_age(system.files()).value();
  EXPECT_GE(younger, from_boot - seconds(3));
  EXPECT_LE(younger, since_boot() - seconds(3));
}

TEST(ProcessAge, IsNotConfusedByBracketsAndSpacesInTheName) {
  const FakeSystem system;
  system.write("/proc/self/stat", stat_text("a) S 1 (b 2", "0"));
  const nanoseconds before = since_boot();
  const nanoseconds age = process_age(system.files()).value();
  EXPECT_GE(age, before);
  EXPECT_LE(age, since_boot());
}

TEST(ProcessAge, IsUnknownWithAReasonIfTheFileIsUnusable) {
  const FakeSystem system;
  EXPECT_NE(process_age(system.files()).why().find("/proc/self/stat"), std::string::npos);
  for (const std::string& text : {std::string("4711 bench S 1 2"),
                                  std::string("4711 (bench) S 1 2"), stat_text("bench", "soon")}) {
    system.write("/proc/self/stat", text);
    EXPECT_FALSE(process_age(system.files()).known()) << text;
    EXPECT_FALSE(process_age(system.files()).why().empty()) << text;
  }
}

TEST(ProcessAge, IsShortForThisProcess) {
  const nanoseconds age = process_age(SystemFiles()).value();
  EXPECT_GE(age, nanoseconds(0));
  EXPECT_LT(age, since_boot());
}

}  // namespace
}  // namespace bench
