#include "pipeline/stages/record_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <set>

#include "models/base/errors.h"
#include "pipeline/formats/tfrecord_writer.h"
#include "pipeline/stages/reader_pool.h"
#include "pipeline/stages/shard_list.h"
#include "pipeline/test/support.h"

namespace bench {
namespace {

/// The records of one epoch, as one string.
std::string epoch_of(RecordStream& stream) {
  std::string out;
  while (const auto record = stream.next()) {
    out += record->data();
  }
  return out;
}

/// Three files: a, d, g / b, e, h / c, f.
std::vector<std::string> letter_shards(const test::TemporaryFolder& folder) {
  test::write_shards(folder, {.shards = 3}, {"a", "b", "c", "d", "e", "f", "g", "h"});
  return list_shards(folder.path(), "train");
}

TEST(InterleavedShards, TakeOneRecordFromEachFileInTurn) {
  const test::TemporaryFolder folder;
  const auto shards = letter_shards(folder);
  EXPECT_EQ(epoch_of(*interleave_shards(shards, {.cycle_length = 3})), "abcdefgh");
  EXPECT_EQ(epoch_of(*interleave_shards(shards, {.cycle_length = 10})), "abcdefgh");
  EXPECT_EQ(epoch_of(*interleave_shards(shards, {.cycle_length = 1})), "adgbehcf");
  // The third file replaces the first one when that is exhausted.
  EXPECT_EQ(epoch_of(*interleave_shards(shards, {.cycle_length = 2})), "abdeghcf");
}

TEST(InterleavedShards, ShuffleFilesInEachEpochBySeed) {
  const test::TemporaryFolder folder;
  const auto shards = letter_shards(folder);
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const InterleaveOptions options{.seed = seed, .shuffle_files = true, .cycle_length = 1};
    const auto stream = interleave_shards(shards, options);
    const auto again = interleave_shards(shards, options);
    for (int epoch = 0; epoch < 10; ++epoch) {
      std::string order = epoch_of(*stream);
      EXPECT_EQ(epoch_of(*again), order);
      orders.insert(order);
      std::sort(order.begin(), order.end());
      EXPECT_EQ(order, "abcdefgh");
    }
  }
  EXPECT_EQ(orders.size(), 6U) << "all orders of three files occur";
}

TEST(InterleavedShards, LoadRecordsOnRequest) {
  const test::TemporaryFolder folder;
  const auto shards = letter_shards(folder);
  const auto loaded = interleave_shards(shards, {.cycle_length = 2});
  const auto stream = interleave_shards(shards, {.cycle_length = 2, .load = false});
  for (int epoch = 0; epoch < 2; ++epoch) {
    while (auto record = stream->next()) {
      EXPECT_EQ(record->bytes, nullptr);
      EXPECT_EQ(record->size, 1U);
      load(*record, false);
      const auto expected = loaded->next();
      ASSERT_TRUE(expected);
      EXPECT_EQ(record->data(), expected->data());
      EXPECT_EQ(record->masked_crc, expected->masked_crc);
      EXPECT_EQ(record->offset, expected->offset);
    }
    EXPECT_FALSE(loaded->next());
  }
}

TEST(InterleavedShards, HaveTheSameOrderWithReaders) {
  const test::TemporaryFolder folder;
  const auto shards = letter_shards(folder);
  const auto alone =
      interleave_shards(shards, {.seed = 3, .shuffle_files = true, .cycle_length = 2});
  ReaderPool pool(4);
  const auto with_readers = interleave_shards(
      shards,
      {.seed = 3, .shuffle_files = true, .cycle_length = 2, .block_bytes = 2, .readers = &pool});
  for (int epoch = 0; epoch < 4; ++epoch) {
    EXPECT_EQ(epoch_of(*with_readers), epoch_of(*alone));
  }
}

TEST(LoadedRecords, KeepTheirOrderWithReaders) {
  const test::TemporaryFolder folder;
  std::vector<Record> records;
  for (const char letter : std::string("abcdefghijklmnop")) {
    const std::string path = folder.file(std::string(1, letter));
    test::write_file(path, std::string(1, letter));
    records.push_back({.bytes = nullptr,
                       .size = 1,
                       .file = std::make_shared<const std::string>(path),
                       .label = 0});
  }
  const auto listed = std::make_shared<const std::vector<Record>>(records);
  ReaderPool pool(3);
  const auto stream = load_records(stream_records(listed), /*skip_bad=*/false, &pool);
  for (int epoch = 0; epoch < 3; ++epoch) {
    EXPECT_EQ(epoch_of(*stream), "abcdefghijklmnop");
  }
}

TEST(LoadedRecords, AreLoadedByTheReaders) {
  const test::TemporaryFolder folder;
  test::write_file(folder.file("a"), "a");
  const auto path = std::make_shared<const std::string>(folder.file("a"));
  const auto listed = std::make_shared<const std::vector<Record>>(
      std::vector<Record>{{.bytes = nullptr, .size = 1, .file = path, .label = 0}});
  ReaderPool pool(1);
  std::promise<void> release;
  pool.run([released = release.get_future().share()] { released.wait(); });
  const auto stream = load_records(stream_records(listed), /*skip_bad=*/false, &pool);
  auto first = std::async(std::launch::async, [&] { return stream->next(); });
  EXPECT_EQ(first.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  release.set_value();
  EXPECT_EQ(first.get()->data(), "a");
}

TEST(LoadedRecords, ReportAMissingFileOfAReader) {
  const test::TemporaryFolder folder;
  const auto path = std::make_shared<const std::string>(folder.file("missing"));
  const auto listed = std::make_shared<const std::vector<Record>>(
      std::vector<Record>{{.bytes = nullptr, .size = 1, .file = path, .label = 0}});
  ReaderPool pool(2);
  EXPECT_THROW(load_records(stream_records(listed), /*skip_bad=*/false, &pool)->next(), DataError);
  const auto skipping = load_records(stream_records(listed), /*skip_bad=*/true, &pool);
  EXPECT_NE(skipping->next()->error, nullptr);
}

TEST(InterleavedShards, DoNotWaitForAFileIfTheyAreSloppy) {
  const test::TemporaryFolder folder;
  // Each of A fills a block; two of the other file fit into one.
  test::write_shards(folder, {.shards = 2}, {"A1", "b", "A2", "c", "A3", "d", "A4", "e"});
  ReaderPool pool(1);
  const auto stream =
      interleave_shards(list_shards(folder.path(), "train"),
                        {.cycle_length = 2, .sloppy = true, .block_bytes = 2, .readers = &pool});
  const auto next = [&] { return std::string(stream->next()->data()); };
  const auto await_reader = [&] { pool.run([] {}).wait(); };
  std::set<std::string> first{next()};
  await_reader();
  first.insert(next());
  EXPECT_EQ(first, (std::set<std::string>{"A1", "b"}));
  // The reader has read A2, which is taken below, before it is stopped here.
  std::promise<void> stopped;
  std::promise<void> release;
  pool.run([&] {
    stopped.set_value();
    release.get_future().wait();
  });
  stopped.get_future().wait();
  EXPECT_EQ((std::set<std::string>{next(), next()}), (std::set<std::string>{"A2", "c"}));
  EXPECT_EQ(next(), "d") << "A3 is not read";
  release.set_value();
  std::string rest = epoch_of(*stream);
  std::ranges::sort(rest);
  EXPECT_EQ(rest, "34AAe");
}

TEST(InterleavedShards, ReportBadFilesInOrderWithReaders) {
  const test::TemporaryFolder folder;
  const auto shards = letter_shards(folder);
  // The second file has b, then nothing readable.
  test::write_file(shards[1], frame_tfrecord("b") + std::string(20, 'x'));
  ReaderPool pool(2);
  const auto stream = interleave_shards(shards, {.cycle_length = 3, .readers = &pool});
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(stream->next());
  }
  EXPECT_THAT(test::message_of<DataError>([&] { stream->next(); }), testing::HasSubstr(shards[1]));
  const auto skipping =
      interleave_shards(shards, {.cycle_length = 3, .skip_bad_files = true, .readers = &pool});
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(skipping->next()->error != nullptr, i == 4) << i;
  }
  EXPECT_FALSE(skipping->next());
}

TEST(InterleavedShards, ReportAFileThatShrank) {
  const test::TemporaryFolder folder;
  const auto shards = letter_shards(folder);
  auto record = interleave_shards(shards, {.load = false})->next();
  ASSERT_TRUE(record);
  test::write_file(shards.front(), "");
  EXPECT_EQ(test::message_of<DataError>([&] { load(*record, false); }),
            shards.front() + ", offset 0: the file has become shorter");
}

TEST(InterleavedShards, RefuseADatasetWithoutRecords) {
  const test::TemporaryFolder folder;
  test::write_shards(folder, {.shards = 2}, {});
  const auto stream = interleave_shards(list_shards(folder.path(), "train"), {});
  EXPECT_THROW(stream->next(), DataError);
}

TEST(CachedRecords, NeedTheFilesOnlyOnce) {
  const test::TemporaryFolder folder;
  const auto shards = letter_shards(folder);
  const auto stream = cache_records(interleave_shards(shards, {.cycle_length = 1}));
  EXPECT_EQ(epoch_of(*stream), "adgbehcf");
  for (const std::string& shard : shards) {
    std::filesystem::remove(shard);
  }
  EXPECT_EQ(epoch_of(*stream), "adgbehcf");
  EXPECT_EQ(epoch_of(*stream), "adgbehcf");
}

TEST(RepeatedRecord, IsTheFirstOneInEveryEpoch) {
  const test::TemporaryFolder folder;
  const auto stream = repeat_first_record(interleave_shards(letter_shards(folder), {}));
  EXPECT_EQ(epoch_of(*stream), "a");
  EXPECT_EQ(epoch_of(*stream), "a");
}

}  // namespace
}  // namespace bench
