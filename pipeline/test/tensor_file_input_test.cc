#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "models/base/errors.h"
#include "models/base/tensor_file.h"
#include "pipeline/input.h"
#include "pipeline/test/support.h"

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr InputSpec kSpec{.batch = 2, .channels = 3, .height = 1, .width = 2, .num_classes = 5};
constexpr std::size_t kImage = 3 * 1 * 2;

/// The contents of a file; its images count 0, 1, 2, ...
struct Contents {
  std::vector<std::int64_t> shape = {4, 3, 1, 2};
  std::vector<std::int64_t> labels = {0, 1, 2, 4};
  std::vector<std::int64_t> labels_shape = {4};
  std::string images_name = "images";
};

std::string write(const test::TemporaryFolder& folder, const Contents& contents) {
  const std::string path = folder.file("batches.safetensors");
  const std::int64_t count = std::accumulate(contents.shape.begin(), contents.shape.end(),
                                             std::int64_t{1}, std::multiplies<>());
  std::vector<float> images(static_cast<std::size_t>(count));
  std::iota(images.begin(), images.end(), 0.0F);
  const std::vector<TensorToWrite> tensors = {
      {contents.images_name, StoredType::f32, contents.shape, std::as_bytes(std::span(images))},
      {"labels", StoredType::i64, contents.labels_shape,
       std::as_bytes(std::span(contents.labels))}};
  write_tensor_file(AtomicFile(path), tensors, {});
  return path;
}

std::string refusal(const Contents& contents) {
  const test::TemporaryFolder folder;
  const std::string path = write(folder, contents);
  return test::message_of<DataError>([&] { make_tensor_file_input(kSpec, path); });
}

struct Taken {
  std::vector<float> images;
  std::vector<std::int32_t> labels;
};
Taken take(InputSource& input) {
  const InputBatch batch = input.next();
  return {{batch.images, batch.images + 2 * kImage}, {batch.labels, batch.labels + 2}};
}

TEST(TensorFileInput, GivesItsBatchesInOrderAndFromTheBeginningAgain) {
  const test::TemporaryFolder folder;
  const auto input = make_tensor_file_input(kSpec, write(folder, {}));
  for (int pass = 0; pass < 3; ++pass) {
    const Taken first = take(*input);
    EXPECT_THAT(first.images, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
    EXPECT_THAT(first.labels, ElementsAre(0, 1));
    const Taken second = take(*input);
    EXPECT_THAT(second.images, ElementsAre(12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23));
    EXPECT_THAT(second.labels, ElementsAre(2, 4));
  }
  const InputStatistics statistics = input->statistics();
  EXPECT_EQ(statistics.images_delivered, 12);
  EXPECT_EQ(statistics.epoch, 2);
  EXPECT_EQ(statistics.records, 4);
  EXPECT_EQ(statistics.shards, 1);
}

TEST(TensorFileInput, ContinuesAfterAnyBatch) {
  const test::TemporaryFolder folder;
  const std::string path = write(folder, {});
  InputSpec spec = kSpec;
  const auto whole = make_tensor_file_input(spec, path);
  for (int i = 0; i < 3; ++i) {
    spec.start = whole->next().following;
    const auto rest = make_tensor_file_input(spec, path);
    EXPECT_EQ(*rest->next().labels, i % 2 == 0 ? 2 : 0) << "after batch " << i;
  }
}

TEST(TensorFileInput, GivesEachProcessItsRows) {
  const test::TemporaryFolder folder;
  InputSpec spec = kSpec;
  spec.global_batch = 4;
  spec.first_image = 2;
  const auto input = make_tensor_file_input(spec, write(folder, {}));
  for (int pass = 0; pass < 2; ++pass) {
    const Taken own = take(*input);
    EXPECT_EQ(own.images.front(), 2 * kImage);
    EXPECT_THAT(own.labels, ElementsAre(2, 4));
  }
}

TEST(TensorFileInput, SaysWhichBatchesComeAgain) {
  const test::TemporaryFolder folder;
  const auto input = make_tensor_file_input(kSpec, write(folder, {}));
  for (const std::int64_t epoch : {0, 0, 1, 1, 2}) {
    EXPECT_EQ(input->next().epoch, epoch);
  }
}

const Contents kSingleBatch = {.shape = {2, 3, 1, 2}, .labels = {3, 1}, .labels_shape = {2}};

TEST(TensorFileInput, RepeatsASingleBatch) {
  const test::TemporaryFolder folder;
  const auto input = make_tensor_file_input(kSpec, write(folder, kSingleBatch));
  const Taken first = take(*input);
  const Taken again = take(*input);
  EXPECT_EQ(first.images, again.images);
  EXPECT_THAT(again.labels, ElementsAre(3, 1));
}

// A file of several batches hands them all out in the same memory, one after the other.
TEST(TensorFileInput, GivesOneContentIdToASingleBatchOnly) {
  const test::TemporaryFolder folder;
  const auto single = make_tensor_file_input(kSpec, write(folder, kSingleBatch));
  const ContentId first = single->next().content;
  EXPECT_TRUE(single->next().content.same_as(first));
  const auto several = make_tensor_file_input(kSpec, write(folder, {}));
  ContentId before = several->next().content;
  for (int i = 0; i < 4; ++i) {
    const ContentId now = several->next().content;
    EXPECT_FALSE(now.same_as(before)) << i;
    before = now;
  }
}

TEST(TensorFileInput, PutsChannelsLastWhenTheLayoutAsksForIt) {
  const test::TemporaryFolder folder;
  InputSpec spec = kSpec;
  spec.layout = SlotLayout::nhwc;
  const auto input = make_tensor_file_input(spec, write(folder, {}));
  EXPECT_THAT(take(*input).images, ElementsAre(0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11));
}

TEST(TensorFileInput, RefusesImagesOfAnotherSizeOrNoWholeBatches) {
  const std::string wanted = "Nx3x1x2 with N a multiple of the batch size 2";
  EXPECT_THAT(refusal({.shape = {4, 3, 2, 2}}), HasSubstr("images is 4x3x2x2 of F32"));
  EXPECT_THAT(refusal({.shape = {3, 3, 1, 2}}), HasSubstr(wanted));
  EXPECT_THAT(refusal({.shape = {0, 3, 1, 2}}), HasSubstr(wanted));
  EXPECT_THAT(refusal({.shape = {4, 6}}), HasSubstr(wanted));
  EXPECT_THAT(refusal({.images_name = "pictures"}), HasSubstr("has no tensor 'images'"));
}

TEST(TensorFileInput, RefusesTooFewOrInvalidLabels) {
  EXPECT_THAT(refusal({.labels = {0, 1}, .labels_shape = {2}}),
              HasSubstr("labels is 2 of I64; this run needs 4 of I64"));
  EXPECT_THAT(refusal({.labels_shape = {4, 1}}), HasSubstr("labels is 4x1"));
  EXPECT_THAT(refusal({.labels = {0, 1, 5, 0}}), HasSubstr("labels[2] is 5; 0 to 4 are accepted"));
  EXPECT_THAT(refusal({.labels = {0, -1, 0, 0}}), HasSubstr("labels[1] is -1"));
  EXPECT_THAT(refusal({.labels = {0, 0, 0, std::int64_t{1} << 32}}), HasSubstr("labels[3]"));
}

}  // namespace
}  // namespace bench
