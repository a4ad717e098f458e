// Bad data stop the run; the message gives file, offset and reason.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
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

TEST(BadInput, BoxesThatAreNotUsedAreNotChecked) {
  const std::string example = ExampleWriter()
                                  .bytes("image/encoded", good_jpeg())
                                  .integer("image/class/label", 1)
                                  .floats("image/object/bbox/xmin", std::vector<float>{1.5F})
                                  .serialize();
  const TemporaryFolder folder;
  for (const char* name : {"train-00000-of-00001", "validation-00000-of-00001"}) {
    test::write_file(folder.file(name), frame_tfrecord(example));
  }
  for (const bool training : {false, true}) {
    const auto input = make_imagenet_input(kSpec, {.data_dir = folder.path(),
                                                   .training = training,
                                                   .use_boxes = !training,
                                                   .num_threads = 1});
    EXPECT_NO_THROW(input->next()) << training;
  }
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

/// Counts of the bad records in each of `reasons`, in the order of BadRecord.
using Counts = std::array<std::int64_t, kBadRecordReasons>;

constexpr BadRecordPolicy kSkip{.skip = true, .limit = {.count = 1000, .is_share = false}};

/// The validation records, in order, with bad ones skipped.
std::unique_ptr<InputSource> skipping_input(const TemporaryFolder& folder,
                                            const BadRecordPolicy& policy = kSkip,
                                            std::int64_t batch = 4, int threads = 3) {
  InputSpec spec = kSpec;
  spec.batch = batch;
  return make_imagenet_input(spec, {.data_dir = folder.path(),
                                    .training = false,
                                    .num_threads = threads,
                                    .bad_records = policy});
}

std::vector<std::int32_t> labels_of(const InputBatch& batch, std::int64_t images) {
  return {batch.labels, batch.labels + images};
}
std::vector<std::int64_t> epochs_of(const InputBatch& batch, std::int64_t images) {
  return {batch.epochs, batch.epochs + images};
}

std::string with_wrong_checksum(const std::string& example) {
  std::string framed = frame_tfrecord(example);
  framed.back() = static_cast<char>(framed.back() ^ 1);
  return framed;
}

TEST(SkippedRecords, AreReplacedByCopiesOfOtherImagesOfTheBatch) {
  const TemporaryFolder folder;
  test::write_file(folder.file("validation-00000-of-00001"),
                   with_wrong_checksum(good_example(1)) + frame_tfrecord(good_example(2)) +
                       frame_tfrecord(test::image_example("GIF89a", 3)) +
                       frame_tfrecord(good_example(4)) + frame_tfrecord("no message") +
                       frame_tfrecord(good_example(5)) + frame_tfrecord(good_example(99)) +
                       frame_tfrecord(good_example(6)));
  const auto input = skipping_input(folder);
  const InputBatch first = input->next();
  EXPECT_THAT(labels_of(first, 4), testing::ElementsAre(2, 2, 2, 4));
  EXPECT_THAT(epochs_of(first, 4), testing::ElementsAre(kBadImage, 0, kBadImage, 0));
  const std::size_t image = 3UL * 16 * 16;
  EXPECT_EQ(std::vector(first.images, first.images + image),
            std::vector(first.images + image, first.images + 2 * image));
  const InputBatch second = input->next();
  EXPECT_THAT(labels_of(second, 4), testing::ElementsAre(5, 5, 5, 6));
  EXPECT_EQ(input->statistics().bad_records.by_reason, (Counts{0, 1, 1, 1, 1}));
  EXPECT_THAT(
      describe(input->statistics().bad_records),
      testing::MatchesRegex("4 bad records \\(1 wrong checksum, 1 malformed Example, 1 label "
                            "out of range, 1 undecodable image\\); the first: .*, offset 0: "
                            "corrupted record.*"));
}

TEST(SkippedRecords, TakeTheRestOfAFileThatCannotBeRead) {
  const TemporaryFolder folder;
  const std::string good = frame_tfrecord(good_example(1));
  std::string damaged = good;
  damaged[8] = static_cast<char>(damaged[8] ^ 1);  // the checksum of the length
  test::write_file(folder.file("validation-00000-of-00002"), good + damaged + good + good);
  test::write_file(folder.file("validation-00001-of-00002"),
                   frame_tfrecord(good_example(3)) + good.substr(0, good.size() / 2));
  const auto input = skipping_input(folder);
  // One record from each file, then none.
  EXPECT_THAT(labels_of(input->next(), 4), testing::ElementsAre(1, 3, 3, 3));
  EXPECT_THAT(epochs_of(input->next(), 4), testing::ElementsAre(1, 1, kBadImage, kBadImage));
  EXPECT_EQ(input->statistics().bad_records.by_reason, (Counts{8, 0, 0, 0, 0}))
      << "in each epoch three records of the first file and one of the second";
  EXPECT_THAT(describe(input->statistics().bad_records),
              HasSubstr("the remainder of the file is skipped"));
}

TEST(SkippedRecords, AreNotWholeFiles) {
  const TemporaryFolder folder;
  test::write_file(folder.file("validation-00000-of-00002"), frame_tfrecord(good_example(1)));
  test::write_file(folder.file("validation-00001-of-00002"), "<html></html>");
  const auto input = skipping_input(folder);
  EXPECT_THAT(test::message_of<DataError>([&] { input->next(); }), HasSubstr("it is an HTML page"));
}

TEST(SkippedRecords, DoNotDependOnTheNumberOfThreads) {
  const TemporaryFolder folder;
  std::string shard;
  for (int i = 0; i < 40; ++i) {
    shard += i % 7 == 3 ? with_wrong_checksum(good_example(i % 11))
                        : frame_tfrecord(good_example(i % 11));
  }
  test::write_file(folder.file("validation-00000-of-00001"), shard);
  const auto labels = [&](int threads) {
    const auto input = skipping_input(folder, kSkip, 4, threads);
    std::vector<std::int32_t> all;
    for (int i = 0; i < 12; ++i) {
      std::ranges::copy(labels_of(input->next(), 4), std::back_inserter(all));
    }
    return all;
  };
  const std::vector<std::int32_t> one = labels(1);
  EXPECT_EQ(labels(2), one);
  EXPECT_EQ(labels(8), one);
}

TEST(SkippedRecords, EndTheRunAboveTheLimit) {
  const TemporaryFolder folder;
  std::string shard;
  for (int i = 0; i < 8; ++i) {
    shard += i % 4 == 0 ? with_wrong_checksum(good_example()) : frame_tfrecord(good_example());
  }
  test::write_file(folder.file("validation-00000-of-00001"), shard);
  const auto input =
      skipping_input(folder, {.skip = true, .limit = {.count = 2, .is_share = false}});
  input->next();
  input->next();
  const auto next = [&] { input->next(); };
  const std::string message = test::message_of<DataError>(next);
  EXPECT_THAT(
      message,
      HasSubstr("--max_bad_records=2 accepts 2 in 12 records, but there are more: 3 bad records"));
  EXPECT_EQ(test::message_of<DataError>(next), message) << "the error stays";
}

TEST(SkippedRecords, EndTheRunIfABatchHasNoOthers) {
  const TemporaryFolder folder;
  test::write_file(folder.file("validation-00000-of-00001"),
                   frame_tfrecord(good_example()) + with_wrong_checksum(good_example()));
  const auto input = skipping_input(folder, kSkip, 1);
  input->next();
  EXPECT_THAT(test::message_of<DataError>([&] { input->next(); }),
              HasSubstr("a batch has only bad records, so nothing can replace them: 1 bad record"));
}

TEST(BadRecordLimit, IsANumberOrAShare) {
  EXPECT_EQ(bad_record_limit_from("7").accepted(1), 7);
  EXPECT_EQ(bad_record_limit_from("0").accepted(1 << 20), 0);
  EXPECT_EQ(bad_record_limit_from("0.5%").accepted(10000), 50);
  EXPECT_EQ(bad_record_limit_from("1%").accepted(20), 10) << "as of 1000 images";
  EXPECT_EQ(bad_record_limit_from("2.5%").text(), "2.5%");
  for (const char* const text : {"", "-1", "x", "101%", "-1%", "nan%", "1 %", "%", "1.5"}) {
    EXPECT_THROW(bad_record_limit_from(text), UsageError) << text;
  }
}

TEST(BadInput, RefusesImagesAboveTheGivenSize) {
  const TemporaryFolder folder;
  write_shards(folder, {}, {good_example()});
  const auto message = [&](std::int64_t pixels) {
    const auto input =
        make_imagenet_input(kSpec, {.data_dir = folder.path(), .max_image_pixels = pixels});
    return test::message_of<DataError>([&] { input->next(); });
  };
  EXPECT_EQ(message(1600), "");
  EXPECT_THAT(message(1599), HasSubstr("40 x 40 pixels; at most 1599 are accepted"));
}

}  // namespace
}  // namespace bench
