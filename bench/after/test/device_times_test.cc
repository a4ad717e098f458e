#include "bench/after/device_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace bench {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Two steps of 100 ms, of which each took the device so long.
SessionResult both(milliseconds device, milliseconds input_wait = {}) {
  SessionResult session;
  session.steps = {milliseconds(100), milliseconds(100)};
  session.device_steps = {device, device};
  session.input_wait = input_wait;
  return session;
}

results::Quality judged_times(const SessionResult& session) {
  results::Quality quality;
  judge_device_times(session, quality);
  return quality;
}

std::string printed_times(const SessionResult& session) {
  std::ostringstream out;
  print_device_times(session, out);
  return out.str();
}

TEST(DeviceTimes, AreFineWhereTheDeviceIsAtWorkNearlyAllTheTime) {
  const SessionResult session = both(milliseconds(95));
  EXPECT_THAT(judged_times(session).warnings, IsEmpty());
  EXPECT_THAT(judged_times(session).reasons, IsEmpty());
  EXPECT_EQ(printed_times(session),
            "device: at work in 95.0 % of the step time by its own clock; a median step takes it "
            "95.000 of 100.000 ms\n");
}

TEST(DeviceTimes, WarnOfAHostThatHoldsTheDeviceUp) {
  const results::Quality quality = judged_times(both(milliseconds(60)));
  EXPECT_THAT(quality.warnings,
              ElementsAre(HasSubstr("the device waits for the host in 40.0 % of the step time")));
  EXPECT_THAT(quality.reasons, IsEmpty());
}

TEST(DeviceTimes, LeaveOutWhatTheInputExplains) {
  EXPECT_THAT(judged_times(both(milliseconds(60), milliseconds(70))).warnings, IsEmpty());
  EXPECT_THAT(judged_times(both(milliseconds(60), milliseconds(30))).warnings,
              ElementsAre(HasSubstr("in 25.0 % of the step time")));
  // A batch that is waited for while the device computes explains no more than there is.
  EXPECT_THAT(judged_times(both(milliseconds(95), milliseconds(150))).warnings, IsEmpty());
}

TEST(DeviceTimes, AreInvalidWhereTheDeviceIsAtWorkLongerThanTheStepsTake) {
  const results::Quality quality = judged_times(both(milliseconds(110)));
  EXPECT_THAT(quality.reasons,
              ElementsAre("the steps took the device 0.220 s by its own clock and 0.200 s by the "
                          "host's, which cannot be: one of them is wrong"));
  EXPECT_THAT(judged_times(both(milliseconds(101))).reasons, IsEmpty());
}

TEST(DeviceTimes, AreNoneWhereTheDeviceComputesInTheHostsMemory) {
  SessionResult session = both(milliseconds(60));
  session.device_steps.clear();
  EXPECT_THAT(judged_times(session).warnings, IsEmpty());
  EXPECT_EQ(printed_times(session), "");
  EXPECT_EQ(printed_times({}), "");
}

}  // namespace
}  // namespace bench
