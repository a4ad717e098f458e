// Shards whose records are found by an index.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "models/base/errors.h"
#include "pipeline/formats/record_index.h"
#include "pipeline/input.h"
#include "pipeline/stages/shard_list.h"
#include "pipeline/test/support.h"

namespace bench {
namespace {

using test::Batches;
using test::examples;
using test::kImage;
using test::small_spec;
using test::take;
using test::TemporaryFolder;

/// Writes an index of each shard to the folder `indexes` in `folder`, and returns its path.
std::string write_indexes(const TemporaryFolder& folder, const std::string& prefix) {
  const std::string indexes = folder.file("indexes");
  std::filesystem::create_directories(indexes);
  for (const std::string& shard : list_shards(folder.path(), prefix)) {
    test::write_file(record_index_path(indexes, shard), record_index_text(find_records(shard)));
  }
  return indexes;
}

TEST(IndexedShards, AreShuffledAsAWholeInEachEpoch) {
  const TemporaryFolder folder;
  write_shards(folder, {.shards = 3}, examples(25));
  const std::string indexes = write_indexes(folder, "train");
  const auto epochs = [&](int threads, int readers) {
    const auto input = make_imagenet_input(small_spec(25), {.data_dir = folder.path(),
                                                            .num_threads = threads,
                                                            .index_dir = indexes,
                                                            .num_readers = readers,
                                                            .shuffle_buffer = 1});
    EXPECT_EQ(input->statistics().records, 25);
    EXPECT_EQ(input->statistics().shards, 3);
    return take(*input, 25, 3);
  };
  const Batches one = epochs(1, 1);
  EXPECT_EQ(epochs(2, 4), one);
  EXPECT_EQ(epochs(8, 0), one);
  std::vector<std::vector<std::int32_t>> orders;
  for (std::ptrdiff_t epoch = 0; epoch < 3; ++epoch) {
    orders.emplace_back(one.labels.begin() + 25 * epoch, one.labels.begin() + 25 * (epoch + 1));
    std::vector<std::int32_t> sorted = orders.back();
    std::ranges::sort(sorted);
    for (std::int32_t i = 0; i < 25; ++i) {
      EXPECT_EQ(sorted[static_cast<std::size_t>(i)], i + 1);
    }
  }
  EXPECT_NE(orders[0], orders[1]);
  EXPECT_NE(orders[1], orders[2]);
}

TEST(IndexedShards, GiveTheSameImagesForSeveralProcessesAndAfterARestart) {
  const TemporaryFolder folder;
  write_shards(folder, {.shards = 3}, examples(25));
  const DatasetOptions options{
      .data_dir = folder.path(), .num_threads = 2, .index_dir = write_indexes(folder, "train")};
  const Batches whole = take(*make_imagenet_input(small_spec(4), options), 4, 14);
  Batches together;
  std::vector<std::unique_ptr<InputSource>> inputs;
  for (const std::int64_t first : {0, 2}) {
    InputSpec spec = small_spec(2);
    spec.global_batch = 4;
    spec.first_image = first;
    inputs.push_back(make_imagenet_input(spec, options));
  }
  InputSpec spec = small_spec(4);
  for (int i = 0; i < 14; ++i) {
    for (const auto& input : inputs) {
      const Batches own = take(*input, 2, 1);
      together.images.insert(together.images.end(), own.images.begin(), own.images.end());
      together.labels.insert(together.labels.end(), own.labels.begin(), own.labels.end());
    }
  }
  EXPECT_EQ(together, whole);
  const auto before = make_imagenet_input(small_spec(4), options);
  for (int i = 0; i < 9; ++i) {
    spec.start = before->next().following;
  }
  const Batches rest = take(*make_imagenet_input(spec, options), 4, 5);
  EXPECT_TRUE(std::equal(rest.labels.begin(), rest.labels.end(), whole.labels.begin() + 36));
  EXPECT_TRUE(std::equal(rest.images.begin(), rest.images.end(),
                         whole.images.begin() + 36 * static_cast<std::ptrdiff_t>(kImage)));
}

TEST(IndexedShards, AreValidatedInTheOrderOfTheFiles) {
  const TemporaryFolder folder;
  // 1, 3, 5, 7 / 2, 4, 6
  write_shards(folder, {.prefix = "validation", .shards = 2}, examples(7));
  const std::string indexes = write_indexes(folder, "validation");
  for (const bool caching : {false, true}) {
    const auto input = make_imagenet_input(small_spec(7), {.data_dir = folder.path(),
                                                           .training = false,
                                                           .index_dir = indexes,
                                                           .use_caching = caching});
    EXPECT_EQ(take(*input, 7, 2).labels,
              (std::vector<std::int32_t>{1, 3, 5, 7, 2, 4, 6, 1, 3, 5, 7, 2, 4, 6}));
  }
}

TEST(IndexedShards, MustNotBeCompressedOrImages) {
  const TemporaryFolder folder;
  write_shards(folder, {.shards = 1}, examples(3));
  const std::string indexes = write_indexes(folder, "train");
  const DatasetOptions options{.data_dir = folder.path(), .index_dir = indexes};
  const std::string shard = list_shards(folder.path(), "train").front();
  std::string gzip(23, '\0');
  gzip.replace(0, 3, "\x1f\x8b\x08");
  test::write_file(shard, gzip);
  test::write_file(record_index_path(indexes, shard), "0 23");
  EXPECT_THAT(test::message_of<UsageError>([&] { make_imagenet_input(small_spec(1), options); }),
              testing::HasSubstr("--index_dir: the records of compressed shards cannot be read"));
  std::filesystem::remove(shard);
  std::filesystem::create_directories(folder.file("cat"));
  test::write_file(folder.file("cat/1.jpg"), test::wavy_jpeg({}));
  EXPECT_THAT(test::message_of<UsageError>([&] { make_imagenet_input(small_spec(1), options); }),
              testing::HasSubstr("--index_dir is for shards, but"));
}

}  // namespace
}  // namespace bench
