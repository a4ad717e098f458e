#include "bench/report/device_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace bench {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Matches;
using ::testing::Not;

/// Two steps of 100 ms on the host, each with this time on the device.
SessionResult both(milliseconds device, milliseconds input_wait = {}) {
  SessionResult session;
  session.steps = {milliseconds(100), milliseconds(100)};
  session.device_steps = {device, device};
  session.input_wait = input_wait;
  session.replayed = true;
  return session;
}

results::Quality judged_times(const SessionResult& session, bool could_send_pixels = false) {
  results::Quality quality;
  judge_device_times(session, could_send_pixels, quality);
  return quality;
}

std::string printed_times(const SessionResult& session) {
  std::ostringstream out;
  print_device_times(session, out);
  return out.str();
}

TEST(DeviceTimes, AreFineWhereOneStepFollowsTheOther) {
  const SessionResult session = both(milliseconds(95));
  EXPECT_THAT(judged_times(session).warnings, IsEmpty());
  EXPECT_THAT(judged_times(session).reasons, IsEmpty());
  EXPECT_EQ(printed_times(session),
            "device: steps take 95.0 % of the step time by the device's clock, gaps included; the "
            "median step takes 95.000 of 100.000 ms\n");
}

TEST(DeviceTimes, NoteWaitsForTheHostWithoutReplay) {
  SessionResult session = both(milliseconds(60));
  session.replayed = false;
  EXPECT_THAT(printed_times(session),
              HasSubstr("60.000 of 100.000 ms; this includes waits for the host, because steps are "
                        "enqueued part by part\n"));
  EXPECT_THAT(judged_times(session).warnings,
              ElementsAre(AllOf(HasSubstr("the host needs much time between steps"),
                                Not(HasSubstr("enqueues")))));
}

TEST(DeviceTimes, WarnOfADeviceThatIsBetweenSteps) {
  const results::Quality quality = judged_times(both(milliseconds(60)));
  EXPECT_THAT(
      quality.warnings,
      ElementsAre(AllOf(
          HasSubstr("the device waits between steps for 40.0 % of the step time"),
          HasSubstr("The next batch arrives late, or the host enqueues the next step late."))));
  EXPECT_THAT(quality.reasons, IsEmpty());
}

TEST(DeviceTimes, AdviseUint8OnlyIfTheImagesCanBeSentSo) {
  for (const bool could : {true, false}) {
    const auto advice = HasSubstr("Pass images as uint8 (--input_transfer=uint8)");
    EXPECT_EQ(Matches(ElementsAre(advice))(judged_times(both(milliseconds(60)), could).warnings),
              could);
  }
}

TEST(DeviceTimes, DoNotWarnAboutWaitsForInput) {
  EXPECT_THAT(judged_times(both(milliseconds(60), milliseconds(70))).warnings, IsEmpty());
  EXPECT_THAT(judged_times(both(milliseconds(60), milliseconds(30))).warnings,
              ElementsAre(HasSubstr("for 25.0 % of the step time")));
  // A wait for input while the device computes can explain only the remaining time.
  EXPECT_THAT(judged_times(both(milliseconds(95), milliseconds(150))).warnings, IsEmpty());
}

TEST(DeviceTimes, CountWaitsForInputOnlyWhileTheDeviceIsIdle) {
  EXPECT_EQ(held_up_by_input(both(milliseconds(60), milliseconds(30))), milliseconds(30));
  EXPECT_DOUBLE_EQ(mean_step_without_input(both(milliseconds(60), milliseconds(30))), 0.085);
  // The host waited for nearly all of the steps, and the device computed meanwhile.
  EXPECT_EQ(held_up_by_input(both(milliseconds(95), milliseconds(198))), milliseconds(10));
  EXPECT_DOUBLE_EQ(mean_step_without_input(both(milliseconds(95), milliseconds(198))), 0.095);
  EXPECT_EQ(held_up_by_input(both(milliseconds(101), milliseconds(198))), milliseconds(0));
  SessionResult on_the_host = both(milliseconds(95), milliseconds(150));
  on_the_host.device_steps.clear();
  EXPECT_EQ(held_up_by_input(on_the_host), milliseconds(150));
}

TEST(DeviceTimes, AreInvalidWhereTheyAreLongerThanTheHosts) {
  const results::Quality quality = judged_times(both(milliseconds(110)));
  EXPECT_THAT(quality.reasons,
              ElementsAre("the steps took 0.220 s by the device's clock, but only 0.200 s by the "
                          "host's: one of the clocks is wrong"));
  EXPECT_THAT(judged_times(both(milliseconds(101))).reasons, IsEmpty());
}

TEST(DeviceTimes, AreAbsentIfTheDeviceUsesTheHostsMemory) {
  SessionResult session = both(milliseconds(60));
  session.device_steps.clear();
  EXPECT_THAT(judged_times(session).warnings, IsEmpty());
  EXPECT_EQ(printed_times(session), "");
  EXPECT_EQ(printed_times({}), "");
}

}  // namespace
}  // namespace bench
