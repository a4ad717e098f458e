// Bad data stop the run; the message gives file, offset and reason.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/base/errors.h"
#include "pipeline/formats/example_writer.h"
#include "pipeline/formats/tfrecord_writer.h"
#include "pipeline/input.h"
#include "pipeline/test/support.h"

namespace bench {
namespace {

using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr InputSpec kSpec{.batch = 2, .height = 16, .width = 16, .num_classes = 11, .seed = 3};

std::string good_jpeg() { return test::wavy_jpeg({.width = 40, .height = 40}); }
std::string good_example(std::int64_t label = 1) { return test::image_example(good_jpeg(), label); }

/// The message of the DataError that ends a run over one shard of these bytes.
std::string message_for(const std::string& shard, int threads = 2) {
  const TemporaryFolder folder;
  test::write_file(folder.file("train-00000-of-00001"), shard);
  const auto input =
      make_imagenet_input(kSpec, {.data_dir = folder.path(), .num_threads = threads});
  const auto run = [&] {
    for (int i = 0; i < 20; ++i) {
      input->next();
    }
  };
  const std::string message = test::message_of<DataError>(run);
  EXPECT_EQ(test::message_of<DataError>(run), message) << "the error stays";
  return message;
}

/// A shard of two good records followed by `example`, whose offset is the same in each test.
std::string shard_ending_with(const std::string& example) {
  return frame_tfrecord(good_example()) + frame_tfrecord(good_example()) + frame_tfrecord(example);
}
std::string place_of_third() {
  return fmt::format("train-00000-of-00001, offset {}: ", 2 * (good_example().size() + 16));
}

TEST(BadInput, LabelOutOfRangeIsNamedWithTheAcceptedRange) {
  for (const std::int64_t label : {-1LL, 11LL, 1LL << 40}) {
    EXPECT_THAT(message_for(shard_ending_with(good_example(label))),
                AllOf(HasSubstr(place_of_third()), HasSubstr(fmt::format("label {}", label)),
                      HasSubstr("0 to 10 are accepted")));
  }
  EXPECT_EQ(message_for(shard_ending_with(good_example(10))), "");
  EXPECT_EQ(message_for(shard_ending_with(good_example(0))), "") << "background is accepted";
}

TEST(BadInput, MissingAndMalformedFeaturesAreNamed) {
  const std::vector<float> one = {0.5F};
  const std::vector<float> two = {0.5F, 0.6F};
  const std::vector<float> over = {1.5F};
  const auto with_box = [&](const std::vector<float>& x_min, const std::vector<float>& x_max) {
    return ExampleWriter()
        .bytes("image/encoded", good_jpeg())
        .integer("image/class/label", 1)
        .floats("image/object/bbox/xmin", x_min)
        .floats("image/object/bbox/xmax", x_max)
        .floats("image/object/bbox/ymin", one)
        .floats("image/object/bbox/ymax", one)
        .serialize();
  };
  struct Case {
    std::string example;
    std::string reason;
  };
  const std::vector<Case> cases = {
      {ExampleWriter().bytes("image/encoded", good_jpeg()).serialize(), "label is missing"},
      {ExampleWriter().bytes("image/class/label", "1").serialize(), "label is not one integer"},
      {ExampleWriter().integer("image/class/label", 1).serialize(), "encoded is missing"},
      {ExampleWriter().integer("image/class/label", 1).integer("image/encoded", 2).serialize(),
       "encoded is not one byte"},
      {with_box(one, two), "must have the same number of floats"},
      {with_box(one, over), "box 0"},
      {with_box({0.7F}, one), "0 <= min <= max <= 1"},
      {"no message", "well-formed"},
      {"", "label is missing"},
  };
  for (const Case& bad : cases) {
    EXPECT_THAT(message_for(shard_ending_with(bad.example)),
                AllOf(HasSubstr(place_of_third()), HasSubstr(bad.reason)));
  }
  EXPECT_EQ(message_for(shard_ending_with(with_box(one, one))), "");
}

TEST(BadInput, NamesImagesThatAreTruncatedOrNotJpeg) {
  const std::string jpeg = good_jpeg();
  struct Case {
    std::string image;
    std::string reason;
  };
  const std::vector<Case> cases = {
      {"", "empty"},
      {"\x89PNG\r\n\x1a\n", "not a JPEG: it is a PNG"},
      {"some text", "not a JPEG"},
      {jpeg.substr(0, jpeg.size() / 2), "truncated"},
      {jpeg.substr(0, jpeg.size() - 2), "truncated"},
      {jpeg.substr(0, 100), "cannot decode the JPEG"},
  };
  for (const Case& bad : cases) {
    EXPECT_THAT(message_for(shard_ending_with(test::image_example(bad.image, 1))),
                AllOf(HasSubstr(place_of_third()), HasSubstr(bad.reason)));
  }
}

TEST(BadInput, TruncatedShardsAndFlippedBitsAreNamed) {
  const std::string good = shard_ending_with(good_example());
  EXPECT_THAT(message_for(good.substr(0, good.size() - 1)),
              AllOf(HasSubstr(place_of_third()), HasSubstr("truncated record")));
  std::string flipped = good;
  flipped[flipped.size() - 300] = static_cast<char>(flipped[flipped.size() - 300] ^ 4);
  EXPECT_THAT(message_for(flipped),
              AllOf(HasSubstr(place_of_third()), HasSubstr("corrupted record")));
  EXPECT_THAT(message_for(""), HasSubstr("contains no records (files: 1)"));
}

TEST(BadInput, GivesTheSameErrorForAnyNumberOfThreads) {
  std::string shard;
  for (int i = 0; i < 40; ++i) {
    shard += frame_tfrecord(good_example(i % 3 == 0 ? 100 + i : 1));
  }
  const auto reason = [&](int threads) {
    const std::string message = message_for(shard, threads);
    return message.substr(message.find(", offset"));
  };
  const std::string one = reason(1);
  EXPECT_EQ(reason(2), one);
  EXPECT_EQ(reason(8), one);
}

TEST(BadInput, GoodBatchesBeforeTheBadOneAreDelivered) {
  const TemporaryFolder folder;
  test::write_file(folder.file("validation-00000-of-00001"), shard_ending_with("bad"));
  const auto input =
      make_imagenet_input(kSpec, {.data_dir = folder.path(), .training = false, .num_threads = 4});
  EXPECT_NO_THROW(input->next());
  EXPECT_THROW(input->next(), DataError);
}

TEST(BadInput, UnusableFoldersAndOptionsAreRefusedAtOnce) {
  const TemporaryFolder folder;
  EXPECT_THAT(test::message_of<UsageError>(
                  [&] { make_imagenet_input(kSpec, {.data_dir = folder.path()}); }),
              HasSubstr("train-*-of-*"));
  EXPECT_THROW(make_imagenet_input(kSpec, {.data_dir = folder.file("absent")}), UsageError);
  write_shards(folder, {}, {good_example()});
  EXPECT_THROW(make_imagenet_input(kSpec, {.data_dir = folder.path(), .prefetch_batches = 1}),
               UsageError);
  InputSpec grey = kSpec;
  grey.channels = 1;
  EXPECT_THROW(make_imagenet_input(grey, {.data_dir = folder.path()}), UsageError);
}

}  // namespace
}  // namespace bench
