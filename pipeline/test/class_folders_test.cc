// Images in a folder per class.

#include "pipeline/datasets/class_folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "models/base/errors.h"
#include "pipeline/input.h"
#include "pipeline/test/support.h"

namespace bench {
namespace {

using test::TemporaryFolder;

constexpr std::size_t kImage = 3UL * 20 * 24;

InputSpec small_spec(std::int64_t batch) {
  return {.batch = batch,
          .channels = 3,
          .height = 20,
          .width = 24,
          .layout = SlotLayout::nchw,
          .num_classes = 101,
          .seed = 42};
}

test::Picture picture_of(int i) {
  return {.width = 40 + i, .height = 90 - i, .seed = static_cast<std::uint64_t>(i)};
}

struct Batches {
  std::vector<float> images;
  std::vector<std::int32_t> labels;
  bool operator==(const Batches&) const = default;
};

Batches take(InputSource& input, std::int64_t batch, int count) {
  Batches out;
  for (int i = 0; i < count; ++i) {
    const InputBatch next = input.next();
    out.images.insert(out.images.end(), next.images,
                      next.images + static_cast<std::size_t>(batch) * kImage);
    out.labels.insert(out.labels.end(), next.labels, next.labels + batch);
  }
  return out;
}

/// Writes images in the folders of four classes, and returns their numbers in the order of the
/// files.
std::vector<int> write_class_folders(const std::filesystem::path& root, int count) {
  std::vector<int> order;
  for (int label = 1; label <= 4; ++label) {
    const std::filesystem::path folder = root / fmt::format("class{}", label);
    std::filesystem::create_directories(folder);
    for (int i = label - 1; i < count; i += 4) {
      test::write_file(folder / fmt::format("{:03}.JPEG", i), test::wavy_jpeg(picture_of(i)));
      order.push_back(i);
    }
  }
  return order;
}

TEST(ClassFolders, GiveTheImagesOfTheirShards) {
  const TemporaryFolder folders;
  const TemporaryFolder shards;
  std::vector<std::string> same;
  for (const int i : write_class_folders(folders.path() / "val", 25)) {
    same.push_back(test::image_example(test::wavy_jpeg(picture_of(i)), i % 4 + 1));
  }
  write_shards(shards, {.prefix = "validation", .shards = 1}, same);
  const auto batches = [](const TemporaryFolder& folder, int threads, int readers) {
    const auto input = make_imagenet_input(small_spec(4), {.data_dir = folder.path(),
                                                           .training = false,
                                                           .num_threads = threads,
                                                           .num_readers = readers});
    return take(*input, 4, 14);  // more than two epochs
  };
  const Batches expected = batches(shards, 1, 1);
  EXPECT_EQ(batches(folders, 1, 1), expected);
  EXPECT_EQ(batches(folders, 3, 0), expected);
}

TEST(ClassFolders, AreShuffledAsAWholeInEachEpoch) {
  const TemporaryFolder folder;
  write_class_folders(folder.path(), 24);
  const auto input = make_imagenet_input(
      small_spec(24), {.data_dir = folder.path(), .num_threads = 2, .shuffle_buffer = 1});
  const Batches first = take(*input, 24, 1);
  const Batches second = take(*input, 24, 1);
  EXPECT_NE(first.labels, second.labels);
  for (const Batches& epoch : {first, second}) {
    std::vector<std::int32_t> labels = epoch.labels;
    std::ranges::sort(labels);
    for (std::int32_t i = 0; i < 24; ++i) {
      EXPECT_EQ(labels[static_cast<std::size_t>(i)], i / 6 + 1);
    }
  }
  EXPECT_EQ(input->statistics().records, 24);
}

TEST(ClassFolders, NameTheFileThatIsBad) {
  const TemporaryFolder folder;
  write_class_folders(folder.path(), 3);
  test::write_file(folder.file("class2/001.JPEG"), "GIF89a");
  const auto input =
      make_imagenet_input(small_spec(3), {.data_dir = folder.path(), .num_threads = 2});
  EXPECT_EQ(test::message_of<DataError>([&] { input->next(); }),
            folder.file("class2/001.JPEG") + ": the image is not a JPEG: it is a GIF");
}

TEST(ClassFolders, AreRefusedIfTheyHaveTooManyClassesOrNoImagesOfTheSubset) {
  const TemporaryFolder folder;
  write_class_folders(folder.path() / "train", 8);
  InputSpec spec = small_spec(2);
  spec.num_classes = 4;
  const auto message = [&](bool training) {
    return test::message_of<UsageError>(
        [&] { make_imagenet_input(spec, {.data_dir = folder.path(), .training = training}); });
  };
  EXPECT_THAT(message(true), testing::HasSubstr("contains 4 classes; use --num_classes=5"));
  EXPECT_THAT(message(false),
              testing::HasSubstr("neither shards (validation-*-of-*) nor a folder"));
  spec.num_classes = 5;
  EXPECT_EQ(message(true), "");
}

}  // namespace
}  // namespace bench
