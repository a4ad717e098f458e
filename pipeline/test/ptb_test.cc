#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

#include "models/base/errors.h"
#include "pipeline/datasets/dataset.h"
#include "pipeline/test/support.h"

namespace bench {
namespace {

using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;

/// The sequences have four words.
InputSpec spec(std::int64_t batch) {
  return {.batch = batch,
          .num_classes = 10,
          .numbers = {{.name = "tokens", .shape = {4}}, {.name = "labels", .shape = {4}}},
          .seed = 5};
}

class PtbInput : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() / name) << text;
  }
  [[nodiscard]] std::unique_ptr<InputSource> open(const InputSpec& input, bool training) const {
    return make_dataset_input(dataset_named("ptb"), input,
                              {.data_dir = folder_.path(), .training = training});
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_.path() / name).string();
  }

 private:
  TemporaryFolder folder_;
};

std::vector<std::int32_t> numbers(const InputBatch& batch, std::size_t input, std::size_t row) {
  const auto* const begin = static_cast<const std::int32_t*>(batch.numbers[input].values) + 4 * row;
  return {begin, begin + 4};
}

/// Each word occurs once, and words[i] becomes number i, because equally frequent ones are sorted.
constexpr const char* kLetters = " a b c d e f g h i";

TEST_F(PtbInput, PredictsTheNextWordOfEachWord) {
  write("ptb.train.txt", kLetters);
  write("ptb.valid.txt", kLetters);
  const auto input = open(spec(2), /*training=*/false);
  const InputBatch batch = input->next();
  EXPECT_THAT(numbers(batch, 0, 0), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(numbers(batch, 1, 0), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(numbers(batch, 0, 1), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(numbers(batch, 1, 1), ElementsAre(5, 6, 7, 8));
  EXPECT_EQ(batch.images, nullptr);
  EXPECT_EQ(batch.labels, nullptr);
}

TEST_F(PtbInput, NumbersFrequentWordsAndLineEndsFirst) {
  write("ptb.train.txt", " b a b \n b \n\tc\r\n");
  const auto input = open(spec(1), /*training=*/true);
  const InputBatch batch = input->next();
  // <eos> and b occur three times.
  EXPECT_THAT(numbers(batch, 0, 0), ElementsAre(1, 2, 1, 0));
  EXPECT_THAT(numbers(batch, 1, 0), ElementsAre(2, 1, 0, 1));
}

TEST_F(PtbInput, ReadsWordsThatAreNotInTheTrainingTextAsUnknown) {
  write("ptb.train.txt", "a a <unk>\n");
  write("ptb.valid.txt", "a new <unk> a a\n");
  const auto input = open(spec(1), /*training=*/false);
  const InputBatch batch = input->next();
  EXPECT_THAT(numbers(batch, 0, 0), ElementsAre(0, 2, 2, 0));
}

/// The batches of an epoch and those after it, in one list of first words.
std::vector<std::int32_t> first_words(InputSource& input, int batches, std::size_t rows) {
  std::vector<std::int32_t> words;
  for (int i = 0; i < batches; ++i) {
    const InputBatch batch = input.next();
    for (std::size_t row = 0; row < rows; ++row) {
      words.push_back(numbers(batch, 0, row)[0]);
    }
  }
  return words;
}

/// 25 words, of which every fourth is a different one.
std::string six_sequences() {
  std::string text;
  for (const char* const word : {"a", "b", "c", "d", "e", "f"}) {
    text += std::string(word) + " x x x ";
  }
  return text + "x";
}

TEST_F(PtbInput, TrainsOnEachSequenceOnceInARandomOrderOfTheEpoch) {
  write("ptb.train.txt", six_sequences());
  const auto input = open(spec(2), /*training=*/true);
  const std::vector<std::int32_t> words = first_words(*input, 6, 2);
  const std::vector<std::int32_t> first(words.begin(), words.begin() + 6);
  const std::vector<std::int32_t> second(words.begin() + 6, words.end());
  EXPECT_THAT(first, testing::UnorderedElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(second, testing::UnorderedElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_NE(first, second);
}

TEST_F(PtbInput, ContinuesAfterAnyBatch) {
  write("ptb.train.txt", six_sequences());
  InputSpec four = spec(4);
  const auto whole = open(four, /*training=*/true);
  whole->next();
  four.start = whole->next().following;
  EXPECT_EQ(four.start, (InputPosition{.epoch = 1, .index = 2}));
  EXPECT_EQ(first_words(*open(four, /*training=*/true), 4, 4), first_words(*whole, 4, 4));
}

TEST_F(PtbInput, DividesTheBatchAmongProcesses) {
  write("ptb.train.txt", six_sequences());
  const std::vector<std::int32_t> all = first_words(*open(spec(4), /*training=*/true), 3, 4);
  std::vector<std::int32_t> joined(all.size());
  for (std::size_t process = 0; process < 2; ++process) {
    InputSpec part = spec(2);
    part.global_batch = 4;
    part.first_image = static_cast<std::int64_t>(2 * process);
    const auto own = first_words(*open(part, /*training=*/true), 3, 2);
    for (std::size_t i = 0; i < own.size(); ++i) {
      joined[i / 2 * 4 + 2 * process + i % 2] = own[i];
    }
  }
  EXPECT_EQ(joined, all);
}

TEST_F(PtbInput, ReportsThePassOfEachSequence) {
  write("ptb.train.txt", six_sequences());
  write("ptb.valid.txt", six_sequences());
  const auto input = open(spec(4), /*training=*/false);
  input->next();
  const InputBatch batch = input->next();
  EXPECT_THAT((std::vector(batch.epochs, batch.epochs + 4)), ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(batch.epoch, 1);
}

TEST_F(PtbInput, RefusesWhatItCannotUse) {
  const auto message = [&]<class Error>(bool training) {
    return test::message_of<Error>([&] { std::ignore = open(spec(1), training); });
  };
  EXPECT_THAT(message.operator()<UsageError>(true),
              HasSubstr("the folder has no file ptb.train.txt"));
  write("ptb.train.txt", "a b c\n");
  EXPECT_EQ(message.operator()<DataError>(true),
            path("ptb.train.txt") + ": the text has 4 words, but a sequence needs 5");
  EXPECT_THAT(message.operator()<UsageError>(false),
              HasSubstr("the folder has no file ptb.valid.txt"));
  write("ptb.valid.txt", "a b\nb z\n");
  EXPECT_EQ(message.operator()<DataError>(false),
            path("ptb.valid.txt") +
                ", line 2: 'z' is not in ptb.train.txt; replace rare words there with <unk>");
  write("ptb.train.txt", "a b c d e f g h i j\n");
  EXPECT_EQ(message.operator()<UsageError>(true),
            path("ptb.train.txt") +
                ": the text has 11 different words, but the network has 10 classes; give "
                "--num_classes=11");
}

}  // namespace
}  // namespace bench
