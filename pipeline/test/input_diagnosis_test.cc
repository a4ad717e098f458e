#include "pipeline/input_diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "models/base/errors.h"
#include "pipeline/stages/batch_loader.h"

namespace bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kBatch = 4;
/// What throttles a part, per image.
constexpr milliseconds kSlow{8};

/// How long each part takes per image.
struct Throttles {
  milliseconds read{0};
  milliseconds parse{0};
  milliseconds decode{0};
  milliseconds copy{0};
  milliseconds device{1};
};

class ThrottledStream final : public RecordStream {
 public:
  explicit ThrottledStream(milliseconds time) : time_(time) {}
  std::optional<Record> next() override {
    std::this_thread::sleep_for(time_);
    return Record{.bytes = std::make_shared<char[]>(1), .size = 1, .file = nullptr};
  }

 private:
  milliseconds time_;
};

class ThrottledWorker final : public SampleWorker {
 public:
  explicit ThrottledWorker(const Throttles& throttles) : throttles_(throttles) {}
  SampleCost prepare(const Sample& /*sample*/, ImagePlace image, std::int32_t* label) override {
    std::this_thread::sleep_for(throttles_.parse + throttles_.decode);
    *std::get<float*>(image) = 0;
    *label = 0;
    return {.parse = throttles_.parse, .decode = throttles_.decode};
  }

 private:
  Throttles throttles_;
};

double images_per_second(int batches, Clock::time_point begin) {
  return static_cast<double>(batches * kBatch) /
         std::chrono::duration<double>(Clock::now() - begin).count();
}

/// The speed of a device that takes `time` per image after each batch.
double speed_with(InputSource* input, milliseconds time) {
  constexpr int kSteps = 12;
  if (input != nullptr) {
    for (int i = 0; i < 3; ++i) {
      input->next();
    }
  }
  const auto begin = Clock::now();
  for (int i = 0; i < kSteps; ++i) {
    if (input != nullptr) {
      input->next();
    }
    std::this_thread::sleep_for(kBatch * time);
  }
  return images_per_second(kSteps, begin);
}

struct Diagnosis {
  DiagnosedBound bound = DiagnosedBound::unclear;
  InputBound input = InputBound::unclear;
  std::string sentence;
};

Diagnosis diagnosis_of(const Throttles& throttles) {
  const auto make_input = [&] {
    return std::make_unique<BatchLoader>(
        LoaderOptions{.batch = kBatch, .image_elements = 1},
        [time = throttles.read](ReaderPool*) {
          return std::make_unique<SampleOrder>(std::make_unique<ThrottledStream>(time), 1, 1);
        },
        [&] { return std::make_unique<ThrottledWorker>(throttles); }, make_host_allocator());
  };
  const auto alone = make_input();
  for (int i = 0; i < 3; ++i) {
    alone->next();
  }
  const InputStatistics before = alone->statistics();
  const auto begin = Clock::now();
  constexpr int kBatches = 12;
  for (int i = 0; i < kBatches; ++i) {
    alone->next();
  }
  const nanoseconds wall = Clock::now() - begin;
  const InputInterval interval{.done = alone->statistics().since(before),
                               .images = kBatches * kBatch,
                               .wall = wall,
                               .waited = wall,
                               .processors = 2};
  const InputVerdict verdict = judge_input(interval);
  const auto together = make_input();
  const DiagnosedSpeeds speeds{
      .device = speed_with(nullptr, throttles.device),
      .with_copies = speed_with(nullptr, throttles.device + throttles.copy),
      .input = verdict.images_per_second,
      .both = speed_with(together.get(), throttles.device + throttles.copy)};
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
      diagnose(
          {.device = 100, .with_copies = 95, .input = 90, .both = 50, .shares_processors = true}),
      DiagnosedBound::processors);
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
