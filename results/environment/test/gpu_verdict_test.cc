#include "results/environment/gpu_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace bench {
namespace {

using results::Verdict;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// 100 samples, of which this many have these bits.
results::ClockEvents events(int samples, std::uint64_t bits) {
  results::ClockEvents out;
  out.samples.assign(100, 0);
  std::fill_n(out.samples.begin(), samples, bits);
  return out;
}

/// A card that computes at its highest clock without other programs.
struct Card {
  results::GpuWatched watched{.window = seconds(10),
                              .samples = 100,
                              .sm_mhz = results::Spread{.mean = 1965, .min = 1950, .max = 1980},
                              .watts = results::Spread{.mean = 500, .min = 450, .max = 550},
                              .clock_events = events(0, 0),
                              .power_violation = nanoseconds(0),
                              .thermal_violation = nanoseconds(0),
                              .joules = 5000.0,
                              .ecc_corrected = 0,
                              .ecc_uncorrected = 0,
                              .others_count = 0,
                              .others = std::vector<results::GpuProcess>{}};
  results::Gpu gpu{.ecc = true,
                   .mig = false,
                   .clocks_max = {.sm = 1980},
                   .power_limit_watts = 700.0,
                   .power_limit_default_watts = 700.0};
};

/// The verdict on a card that `change` modifies.
results::Quality judged(const std::function<void(Card&)>& change) {
  Card card;
  change(card);
  card.gpu.watched = card.watched;
  results::Quality quality;
  quality.warnings = {"before"};
  judge_gpus(std::span(&card.gpu, 1), quality);
  return quality;
}

/// INVALID for only this reason, and without a warning.
void expect_invalid(const std::function<void(Card&)>& change, const std::string& reason) {
  const results::Quality quality = judged(change);
  EXPECT_EQ(quality.verdict.value(), Verdict::kInvalid) << reason;
  EXPECT_THAT(quality.reasons, ElementsAre(HasSubstr(reason)));
  EXPECT_THAT(quality.warnings, ElementsAre("before"));
}

/// VALID, with this warning.
void expect_warning(const std::function<void(Card&)>& change, const std::string& warning) {
  const results::Quality quality = judged(change);
  EXPECT_EQ(quality.verdict.value(), Verdict::kValid) << warning;
  EXPECT_THAT(quality.warnings, ElementsAre("before", HasSubstr(warning)));
}

/// No verdict, for this reason.
void expect_none(const std::function<void(Card&)>& change, const std::string& why) {
  const results::Quality quality = judged(change);
  EXPECT_FALSE(quality.verdict.known()) << why;
  EXPECT_THAT(quality.verdict.why(), HasSubstr(why));
}

TEST(GpuVerdict, IsValidForAnUndisturbedCard) {
  const results::Quality quality = judged([](Card&) {});
  EXPECT_EQ(quality.verdict.value(), Verdict::kValid);
  EXPECT_THAT(quality.reasons, IsEmpty());
  EXPECT_THAT(quality.unread, IsEmpty());
  EXPECT_THAT(quality.warnings, ElementsAre("before"));
}

TEST(GpuVerdict, IsOnlyForRunsOnAGpu) {
  results::Quality quality;
  judge_gpus({}, quality);
  EXPECT_EQ(quality.verdict.why(), "only runs on a GPU are judged");
}

TEST(GpuVerdict, IsInvalidForHeat) {
  for (const std::uint64_t bits : {0x20U, 0x40U, 0x48U}) {
    expect_invalid([&](Card& card) { card.watched.clock_events = events(2, bits); },
                   "heat reduced the clocks for 2.0 % of the time");
  }
  expect_invalid([](Card& card) { card.watched.thermal_violation = milliseconds(500); },
                 "heat reduced the clocks for 5.0 %");
  expect_warning([](Card& card) { card.watched.thermal_violation = milliseconds(50); },
                 "heat reduced the clocks for 0.5 %");
}

TEST(GpuVerdict, IsInvalidForAPowerBrakeOrUnexplainedClocks) {
  expect_invalid([](Card& card) { card.watched.clock_events = events(2, 0x88); }, "power brake");
  expect_invalid([](Card& card) { card.watched.clock_events = events(2, 0x8); },
                 "gave no reason for slowing down");
}

TEST(GpuVerdict, IsInvalidForAPowerLimitBelowTheDefault) {
  const auto capped = [](Card& card) {
    card.watched.clock_events = events(90, 0x4);
    card.watched.sm_mhz = results::Spread{.mean = 1300, .min = 1200, .max = 1400};
  };
  expect_warning(
      capped,
      "the power limit of 700 W reduced the clocks for 90.0 % of the time: the card's speed then "
      "depends on its temperature");
  expect_invalid(
      [&](Card& card) {
        capped(card);
        card.gpu.power_limit_watts = 400.0;
      },
      "the power limit of 400 W reduced the clocks for 90.0 % of the time: it is below the card's "
      "default of 700 W; as root: nvidia-smi -pl 700");
  expect_none(
      [&](Card& card) {
        capped(card);
        card.gpu.power_limit_default_watts = Unknown{"Not Supported"};
      },
      "it is unknown whether this is the card's default limit");
  expect_invalid(
      [](Card& card) {
        card.watched.power_violation = seconds(1);
        card.gpu.power_limit_watts = 400.0;
      },
      "the power limit of 400 W reduced the clocks for 10.0 % of the time");
}

TEST(GpuVerdict, IsInvalidForAClockThatStaysLow) {
  const auto slow = [](Card& card) {
    card.watched.sm_mhz = results::Spread{.mean = 1200, .min = 1200, .max = 1200};
  };
  expect_invalid(slow, "the mean SM clock was 1200 MHz, 60.6 % of the card's maximum of 1980 MHz");
  expect_invalid(
      [&](Card& card) {
        slow(card);
        card.watched.clock_events = events(100, 0x2);
      },
      "a lower clock is set; as root: nvidia-smi -rac");
}

TEST(GpuVerdict, IsUnknownForAnUnexplainedLowClock) {
  expect_none(
      [](Card& card) {
        card.watched.sm_mhz = results::Spread{.mean = 1200, .min = 1200, .max = 1200};
        card.watched.clock_events = Unknown{"Not Supported"};
      },
      "the mean SM clock was 1200 MHz, 60.6 % of the card's maximum of 1980 MHz, and it is unknown "
      "whether the card's power limit reduced it: Not Supported");
}

TEST(GpuVerdict, NamesTheCard) {
  Card fine;
  fine.gpu.watched = fine.watched;
  Card other;
  other.watched.sm_mhz = Unknown{"Not Supported"};
  other.watched.ecc_corrected = 4;
  other.watched.ecc_uncorrected = 1;
  other.gpu.watched = other.watched;
  const std::vector<results::Gpu> cards = {fine.gpu, other.gpu};
  results::Quality quality;
  judge_gpus(cards, quality);
  EXPECT_THAT(quality.unread, ElementsAre("GPU 1: the SM clock (Not Supported)"));
  EXPECT_THAT(quality.warnings, ElementsAre(HasSubstr("GPU 1: the card's memory had 4 errors")));
  EXPECT_THAT(quality.reasons, ElementsAre(HasSubstr("GPU 1: the card's memory had 1 errors")));
}

TEST(GpuVerdict, IsInvalidForOthersOnTheCard) {
  expect_invalid(
      [](Card& card) {
        card.watched.others_count = 2;
        card.watched.others = std::vector<results::GpuProcess>{{.pid = 17}, {.pid = 18}};
      },
      "other processes were on the card: 17, 18");
  expect_invalid(
      [](Card& card) {
        card.watched.others_count = 2;
        card.watched.others = Unknown{"ids of another namespace"};
      },
      "other processes were on the card: 2, with ids of another PID namespace");
}

TEST(GpuVerdict, IsInvalidForErrorsThatCannotBeCorrected) {
  expect_invalid([](Card& card) { card.watched.ecc_uncorrected = 1; }, "had 1 errors that ECC");
  expect_warning([](Card& card) { card.watched.ecc_corrected = 4; }, "had 4 errors that ECC");
}

TEST(GpuVerdict, WarnsOfWhatMakesNumbersHardToRead) {
  expect_warning([](Card& card) { card.watched.clock_events = events(60, 0x1); },
                 "the card was idle in 60.0 % of the samples");
  expect_warning([](Card& card) { card.gpu.mig = true; }, "partitioned (MIG)");
  expect_warning([](Card& card) { card.watched.joules = 6000.0; },
                 "its energy counter shows 600.0 W and its power samples 500.0 W");
}

/// VALID, with this value unread and no warning.
void expect_unread(const std::function<void(Card&)>& change, const std::string& unread) {
  const results::Quality quality = judged(change);
  EXPECT_EQ(quality.verdict.value(), Verdict::kValid) << unread;
  EXPECT_THAT(quality.unread, ElementsAre(unread));
  EXPECT_THAT(quality.warnings, ElementsAre("before"));
}

TEST(GpuVerdict, NamesUnreadableValues) {
  const Unknown why{"Not Supported"};
  expect_unread([&](Card& card) { card.watched.clock_events = why; },
                "the reasons for reduced clocks (Not Supported)");
  expect_unread([&](Card& card) { card.watched.sm_mhz = why; }, "the SM clock (Not Supported)");
  expect_unread([&](Card& card) { card.gpu.clocks_max.sm = why; },
                "the highest SM clock (Not Supported)");
  expect_unread(
      [&](Card& card) {
        card.watched.others_count = why;
        card.watched.others = why;
      },
      "other processes on the card (Not Supported)");
  expect_unread([&](Card& card) { card.watched.ecc_uncorrected = why; },
                "the card's memory errors (Not Supported)");
  // A card without ECC counts no errors.
  const results::Quality without = judged([&](Card& card) {
    card.gpu.ecc = false;
    card.watched.ecc_uncorrected = why;
  });
  EXPECT_EQ(without.verdict.value(), Verdict::kValid);
  EXPECT_THAT(without.unread, IsEmpty());
  // The known values are sufficient for the other verdict.
  const results::Quality quality = judged([&](Card& card) {
    card.watched.others_count = why;
    card.watched.ecc_uncorrected = 2;
  });
  EXPECT_EQ(quality.verdict.value(), Verdict::kInvalid);
}

TEST(GpuVerdict, IsUnknownIfTheClocksAreUnknown) {
  expect_none(
      [](Card& card) {
        card.watched.clock_events = Unknown{"Not Supported"};
        card.watched.sm_mhz = Unknown{"Unknown Error"};
      },
      "the card's clocks are unknown: Not Supported");
}

TEST(GpuVerdict, IsInvalidForAReasonThatWasThereBefore) {
  Card card;
  card.gpu.watched = card.watched;
  results::Quality quality;
  quality.reasons = {"clocks that disagree"};
  judge_gpus(std::span(&card.gpu, 1), quality);
  EXPECT_EQ(quality.verdict.value(), Verdict::kInvalid);
  EXPECT_THAT(quality.reasons, ElementsAre("clocks that disagree"));
}

TEST(GpuVerdict, IsUnknownForACardThatWasNotWatched) {
  results::Gpu gpu;
  gpu.watched = Unknown{"no driver"};
  results::Quality quality;
  judge_gpus(std::span(&gpu, 1), quality);
  EXPECT_EQ(quality.verdict.why(), "no driver");
}

}  // namespace
}  // namespace bench
