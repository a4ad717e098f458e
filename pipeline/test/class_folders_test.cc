// Images in a folder per class.

#include "pipeline/datasets/class_folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "models/base/errors.h"
#include "pipeline/input.h"
#include "pipeline/test/support.h"

namespace bench {
namespace {

using test::TemporaryFolder;

using test::Batches;
using test::small_spec;
using test::take;

test::Picture picture_of(int i) {
  return {.width = 40 + i, .height = 90 - i, .seed = static_cast<std::uint64_t>(i)};
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

TEST(ClassFolders, HaveTheSameLabelsInAllSubsets) {
  const TemporaryFolder folder;
  write_class_folders(folder.path() / "train", 8);
  write_class_folders(folder.path() / "val", 8);
  std::filesystem::remove_all(folder.path() / "val/class2");
  std::filesystem::remove_all(folder.path() / "train/class3");
  const auto labels = [&](bool training) {
    const auto input = make_imagenet_input(
        small_spec(6), {.data_dir = folder.path(), .training = training, .num_threads = 1});
    std::vector<std::int32_t> all = take(*input, 6, 1).labels;
    std::ranges::sort(all);
    return all;
  };
  EXPECT_EQ(labels(true), (std::vector<std::int32_t>{1, 1, 2, 2, 4, 4}));
  EXPECT_EQ(labels(false), (std::vector<std::int32_t>{1, 1, 3, 3, 4, 4}));
}

TEST(ClassFolders, MixTheClassesInACache) {
  const TemporaryFolder folder;
  write_class_folders(folder.path(), 24);
  const auto input = make_imagenet_input(
      small_spec(24),
      {.data_dir = folder.path(), .num_threads = 1, .shuffle_buffer = 1, .use_caching = true});
  const std::vector<std::int32_t> labels = take(*input, 24, 1).labels;
  EXPECT_FALSE(std::ranges::is_sorted(labels));
}

TEST(ClassFolders, AreTheSameForSeveralProcessesAndAfterARestart) {
  const TemporaryFolder folder;
  write_class_folders(folder.path(), 25);
  const DatasetOptions options{.data_dir = folder.path(), .num_threads = 2};
  const auto whole = make_imagenet_input(small_spec(6), options);
  const Batches expected = take(*whole, 6, 10);  // more than two epochs
  Batches together;
  std::vector<std::unique_ptr<InputSource>> inputs;
  for (const std::int64_t first : {0, 2, 4}) {
    InputSpec spec = small_spec(2);
    spec.global_batch = 6;
    spec.first_image = first;
    inputs.push_back(make_imagenet_input(spec, options));
  }
  for (int i = 0; i < 10; ++i) {
    for (const auto& input : inputs) {
      const Batches own = take(*input, 2, 1);
      together.images.insert(together.images.end(), own.images.begin(), own.images.end());
      together.labels.insert(together.labels.end(), own.labels.begin(), own.labels.end());
    }
  }
  EXPECT_EQ(together, expected);
  const auto first = make_imagenet_input(small_spec(6), options);
  first->next();
  InputSpec spec = small_spec(6);
  spec.start = first->next().following;
  Batches rest = take(*make_imagenet_input(spec, options), 6, 8);
  EXPECT_EQ(rest.labels,
            std::vector<std::int32_t>(expected.labels.begin() + 12, expected.labels.end()));
}

TEST(ClassFolders, SkipAFileThatVanished) {
  const TemporaryFolder folder;
  write_class_folders(folder.path() / "val", 8);
  for (const int readers : {1, 4}) {
    const auto input = make_imagenet_input(small_spec(4), {.data_dir = folder.path(),
                                                           .training = false,
                                                           .num_threads = 1,
                                                           .num_readers = readers,
                                                           .bad_records = {.skip = true}});
    const std::filesystem::path vanishing = folder.path() / "val/class4/007.JPEG";
    input->next();
    std::filesystem::remove(vanishing);
    for (int i = 0; i < 9; ++i) {
      input->next();
    }
    EXPECT_GT(input->statistics().bad_records.by_reason[0], 0);
    test::write_file(vanishing, test::wavy_jpeg(picture_of(7)));
  }
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
  EXPECT_THAT(message(false), testing::HasSubstr("neither shards (validation-*-of-*) nor JPEGs"));
  spec.num_classes = 5;
  EXPECT_EQ(message(true), "");
}

}  // namespace
}  // namespace bench
