#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "example.pb.h"
#include "models/base/errors.h"
#include "pipeline/datasets/dataset.h"
#include "pipeline/formats/tfrecord_writer.h"
#include "pipeline/test/support.h"

namespace bench {
namespace {

using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kWindows = 8;
constexpr std::int64_t kFrequencies = 3;
constexpr std::int64_t kCharacters = 5;

/// 8 windows become 2 frames. Classes 0 to 6 are characters.
InputSpec speech_spec() {
  return {
      .batch = 1,
      .channels = 0,
      .num_classes = 8,
      .numbers = {{.name = "features", .dtype = DType::f32, .shape = {1, kWindows, kFrequencies}},
                  {.name = "labels", .shape = {kCharacters}},
                  {.name = "label_counts", .bound = kCharacters + 1},
                  {.name = "frames", .bound = 3}},
      .seed = 5};
}

struct Utterance {
  std::vector<std::vector<float>> windows;
  std::vector<std::int64_t> labels;
  std::int64_t input_length = 0;
  std::int64_t label_length = 0;
};

/// `count` windows, and a text of three characters.
Utterance utterance(std::int64_t count) {
  Utterance said{.windows = {}, .labels = {3, 0, 6}, .input_length = count, .label_length = 3};
  for (std::int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<float>(i);
    said.windows.push_back({value, value + 0.25F, value + 0.5F});
  }
  return said;
}

std::string serialized(const Utterance& said) {
  oracle::SequenceExample example;
  auto& context = *example.mutable_context()->mutable_feature();
  for (const std::int64_t label : said.labels) {
    context["labels"].mutable_int64_list()->add_value(label);
  }
  context["input_length"].mutable_int64_list()->add_value(said.input_length);
  context["label_length"].mutable_int64_list()->add_value(said.label_length);
  auto& list = (*example.mutable_feature_lists()->mutable_feature_list())["features"];
  for (const std::vector<float>& window : said.windows) {
    oracle::FloatList& floats = *list.add_feature()->mutable_float_list();
    for (const float value : window) {
      floats.add_value(value);
    }
  }
  return example.SerializeAsString();
}

void write_utterances(const std::string& path, const std::vector<Utterance>& utterances) {
  TfRecordWriter writer(path);
  for (const Utterance& each : utterances) {
    writer.write(serialized(each));
  }
  writer.finish();
}

std::unique_ptr<InputSource> open_speech(const TemporaryFolder& folder, bool training) {
  return make_dataset_input(dataset_named("librispeech"), speech_spec(),
                            {.data_dir = folder.path(), .training = training, .num_threads = 2});
}

std::vector<std::int32_t> whole_numbers(const InputBatch& batch, std::size_t input) {
  const auto* const begin = static_cast<const std::int32_t*>(batch.numbers[input].values);
  return {begin, begin + batch.numbers[input].per_example};
}

TEST(LibrispeechInput, PadsSpectrogramAndTextWithZeros) {
  const TemporaryFolder folder;
  write_utterances(folder.file("test-clean.tfrecords"), {utterance(8), utterance(2)});
  const auto input = open_speech(folder, /*training=*/false);
  InputBatch batch = input->next();
  EXPECT_EQ(batch.images, nullptr);
  EXPECT_EQ(batch.labels, nullptr);
  EXPECT_THAT(whole_numbers(batch, 3), ElementsAre(2));
  batch = input->next();
  const auto* const features = static_cast<const float*>(batch.numbers[0].values);
  EXPECT_THAT(std::vector(features, features + 9),
              ElementsAre(0, 0.25F, 0.5F, 1, 1.25F, 1.5F, 0, 0, 0));
  EXPECT_EQ(features[kWindows * kFrequencies - 1], 0);
  EXPECT_THAT(whole_numbers(batch, 1), ElementsAre(3, 0, 6, 0, 0));
  EXPECT_THAT(whole_numbers(batch, 2), ElementsAre(3));
  EXPECT_THAT(whole_numbers(batch, 3), ElementsAre(0));  // 2 of 8 windows: half a frame
}

TEST(LibrispeechInput, TrainsOnAllFilesOfTheTrainingSet) {
  const TemporaryFolder folder;
  for (const std::int64_t windows : {4, 8}) {
    Utterance one_letter = utterance(windows);
    one_letter.labels = {3};
    one_letter.label_length = 1;
    write_utterances(folder.file(fmt::format("train-clean-{}.tfrecords", windows)), {one_letter});
  }
  const auto input = open_speech(folder, /*training=*/true);
  std::vector<std::int32_t> frames;
  for (int i = 0; i < 2; ++i) {
    frames.push_back(whole_numbers(input->next(), 3)[0]);
  }
  EXPECT_THAT(frames, testing::UnorderedElementsAre(1, 2));
}

/// 8 windows become 2 frames.
TEST(LibrispeechInput, EmptiesUtterancesThatAreTooShortForTheirTextInTraining) {
  Utterance said = utterance(8);
  said.label_length = 2;
  Utterance repeated = said;
  repeated.labels = {3, 3};
  for (const auto& [example, count] :
       {std::pair{said, 2}, std::pair{repeated, 0}, std::pair{utterance(8), 0}}) {
    const TemporaryFolder folder;
    write_utterances(folder.file("train-clean-100.tfrecords"), {example});
    const auto input = open_speech(folder, /*training=*/true);
    const InputBatch batch = input->next();
    EXPECT_THAT(whole_numbers(batch, 2), ElementsAre(count));
    EXPECT_THAT(whole_numbers(batch, 3), ElementsAre(count));
  }
}

TEST(LibrispeechInput, RefusesWhatItCannotUse) {
  const auto message = [](const Utterance& said) {
    const TemporaryFolder folder;
    write_utterances(folder.file("test-clean.tfrecords"), {said});
    return test::message_of<DataError>([&] { open_speech(folder, /*training=*/false)->next(); });
  };
  EXPECT_THAT(message(utterance(9)),
              HasSubstr("offset 0: features has 9 windows; 1 to 8 are accepted"));
  Utterance wrong = utterance(4);
  wrong.windows[2].pop_back();
  EXPECT_THAT(message(wrong), HasSubstr("item 2 of features is not a list of 3 floats"));
  wrong = utterance(4);
  wrong.input_length = 5;
  EXPECT_THAT(message(wrong), HasSubstr("input_length must be one integer from 1 to 4"));
  wrong = utterance(4);
  wrong.label_length = 4;
  EXPECT_THAT(message(wrong), HasSubstr("label_length must be one integer from 1 to 3"));
  wrong = utterance(4);
  wrong.labels[1] = 7;
  EXPECT_THAT(message(wrong), HasSubstr("label 7 is not from 0 to 6"));
  wrong = utterance(4);
  wrong.labels.assign(6, 1);
  EXPECT_THAT(message(wrong), HasSubstr("labels has 6 characters; 1 to 5 are accepted"));
  EXPECT_THAT(message(utterance(0)), HasSubstr("features has 0 windows; 1 to 8 are accepted"));
  const TemporaryFolder empty;
  EXPECT_THAT(
      test::message_of<UsageError>([&] { std::ignore = open_speech(empty, /*training=*/true); }),
      HasSubstr("the folder has no files train-clean-*.tfrecords"));
}

}  // namespace
}  // namespace bench
