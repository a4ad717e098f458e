#include "pipeline/input_diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using ::testing::HasSubstr;

constexpr int kThreads = 2;
/// What throttles a part, per image.
constexpr milliseconds kSlow{8};

/// How long each part takes per image.
struct Throttles {
  milliseconds read{1};
  milliseconds parse{1};
  milliseconds decode{1};
  milliseconds copy{0};
  milliseconds device{2};
};

/// An input that runs alone for 1,000 images. Reading waits for the storage.
InputInterval interval_of(const Throttles& throttles) {
  constexpr int kImages = 1000;
  const nanoseconds preparing = throttles.parse + throttles.decode;
  const nanoseconds wall = kImages * std::max<nanoseconds>(throttles.read, preparing / kThreads);
  InputInterval interval{
      .done = {}, .images = kImages, .wall = wall, .waited = wall, .processors = 4};
  interval.done.images_prepared = kImages;
  interval.done.threads = kThreads;
  interval.done.reading.work = kImages * throttles.read;
  interval.done.preparing.work = kImages * preparing;
  interval.done.preparing.processor = kImages * preparing;
  interval.done.parse_busy = kImages * throttles.parse;
  interval.done.decode_busy = kImages * throttles.decode;
  return interval;
}

struct Diagnosis {
  DiagnosedBound bound = DiagnosedBound::unclear;
  InputBound input = InputBound::unclear;
  std::string sentence;
};

Diagnosis diagnosis_of(const Throttles& throttles) {
  const InputInterval interval = interval_of(throttles);
  const InputVerdict verdict = judge_input(interval);
  const auto speed = [](milliseconds time) {
    return 1 / std::chrono::duration<double>(time).count();
  };
  const double with_copies = speed(throttles.device + throttles.copy);
  const DiagnosedSpeeds speeds{.device = speed(throttles.device),
                               .with_copies = with_copies,
                               .input = verdict.images_per_second,
                               .both = std::min(with_copies, verdict.images_per_second)};
  return {.bound = diagnose(speeds),
          .input = verdict.bound,
          .sentence = describe(speeds, verdict, interval)};
}

TEST(InputDiagnosis, NamesTheDeviceIfNothingElseIsSlow) {
  const Diagnosis diagnosis = diagnosis_of({.device = kSlow});
  EXPECT_EQ(diagnosis.bound, DiagnosedBound::device);
  EXPECT_THAT(diagnosis.sentence, HasSubstr("the device is the limit"));
}

TEST(InputDiagnosis, NamesSlowCopies) {
  const Diagnosis diagnosis = diagnosis_of({.copy = kSlow});
  EXPECT_EQ(diagnosis.bound, DiagnosedBound::copy);
  EXPECT_THAT(diagnosis.sentence, HasSubstr("copies to the device are the limit"));
}

TEST(InputDiagnosis, NamesTheSlowPartOfTheInput) {
  const Diagnosis reading = diagnosis_of({.read = kSlow});
  EXPECT_EQ(reading.bound, DiagnosedBound::input);
  EXPECT_EQ(reading.input, InputBound::storage);
  EXPECT_THAT(reading.sentence, HasSubstr("the input is the limit (the storage)"));
  const Diagnosis parsing = diagnosis_of({.parse = kSlow});
  EXPECT_EQ(parsing.bound, DiagnosedBound::input);
  EXPECT_EQ(parsing.input, InputBound::parse);
  const Diagnosis decoding = diagnosis_of({.decode = kSlow});
  EXPECT_EQ(decoding.bound, DiagnosedBound::input);
  EXPECT_EQ(decoding.input, InputBound::decode);
  EXPECT_THAT(decoding.sentence, HasSubstr("the input is the limit (decoding JPEGs)"));
}

TEST(InputDiagnosis, ComparesSpeeds) {
  EXPECT_EQ(diagnose({.device = 100, .with_copies = 95, .input = 300, .both = 91}),
            DiagnosedBound::device);
  EXPECT_EQ(diagnose({.device = 100, .with_copies = 60, .input = 300, .both = 55}),
            DiagnosedBound::copy);
  EXPECT_EQ(diagnose({.device = 100, .with_copies = 95, .input = 50, .both = 50}),
            DiagnosedBound::input);
  EXPECT_EQ(diagnose({.device = 100, .with_copies = 95, .input = 90, .both = 50}),
            DiagnosedBound::unclear);
  EXPECT_EQ(
      diagnose({.device = 100, .with_copies = 95, .input = 90, .both = 50, .share_of_input = 0.3}),
      DiagnosedBound::processors);
  EXPECT_EQ(
      diagnose(
          {.device = 100, .with_copies = 95, .input = 9000, .both = 50, .share_of_input = 0.01}),
      DiagnosedBound::unclear);
}

TEST(InputDiagnosis, SaysWhatAFasterInputWouldGive) {
  const InputVerdict verdict{.bound = InputBound::decode, .processors_used = 2};
  const InputInterval interval{.done = {}, .processors = 16};
  EXPECT_EQ(
      describe({.device = 1000, .with_copies = 1000, .input = 500, .both = 480}, verdict, interval),
      "the input is the limit (decoding JPEGs); with a faster one, the device reaches 1000 "
      "images/sec (+108 %); preparing images at that speed takes about 4.0 processors, and "
      "this process may use 16");
}

}  // namespace
}  // namespace bench
