#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "models/base/errors.h"
#include "pipeline/formats/tfrecord_reader.h"
#include "pipeline/formats/tfrecord_writer.h"
#include "pipeline/test/support.h"

namespace bench {
namespace {

using test::TemporaryFolder;
using ::testing::HasSubstr;

/// Reads and verifies a whole file.
std::vector<std::string> read_all(const std::string& path, std::size_t block_bytes = 1U << 20U) {
  TfRecordReader reader(path, block_bytes);
  std::vector<std::string> records;
  while (const auto record = reader.next()) {
    check_data_crc(record->data, record->data_masked_crc);
    records.emplace_back(record->data);
  }
  return records;
}

const std::vector<std::string>& three_records() {
  static const std::vector<std::string> kRecords = {"first", std::string(60, 'x'), ""};
  return kRecords;
}

std::string framed(const std::vector<std::string>& records) {
  std::string out;
  for (const std::string& record : records) {
    out += frame_tfrecord(record);
  }
  return out;
}

TEST(TfRecord, ReadsBackWhatWasWrittenForAnyBlockSize) {
  const TemporaryFolder folder;
  const std::string path = folder.file("records");
  TfRecordWriter writer(path);
  for (const std::string& record : three_records()) {
    writer.write(record);
  }
  EXPECT_FALSE(std::filesystem::exists(path)) << "a file has its name only when it is whole";
  writer.finish();
  EXPECT_EQ(test::read_file(path), framed(three_records()));
  for (const std::size_t block_bytes : {1, 7, 16, 100, 333, 1000, 1 << 20}) {
    EXPECT_EQ(read_all(path, block_bytes), three_records()) << block_bytes;
  }
}

TEST(TfRecord, FramesAsTheFormatSays) {
  // Length 3, its masked checksum, the data, their masked checksum. An independent bitwise program
  // computed these.
  const std::string expected(
      "\x03\0\0\0\0\0\0\0\xb0\x99\x49\x0e"
      "abc"
      "\x6e\x57\xf1\x21",
      19);
  EXPECT_EQ(frame_tfrecord("abc"), expected);
}

TEST(TfRecord, GivesTheOffsetOfEachRecord) {
  const TemporaryFolder folder;
  test::write_file(folder.file("records"), framed(three_records()));
  TfRecordReader reader(folder.file("records"), 64);
  EXPECT_EQ(reader.next()->offset, 0U);
  EXPECT_EQ(reader.next()->offset, 21U);
  EXPECT_EQ(reader.next()->offset, 21U + 76U);
  EXPECT_FALSE(reader.next());
  EXPECT_FALSE(reader.next());
}

TEST(TfRecord, NamesFileAndOffsetWhereverTheFileIsCut) {
  const TemporaryFolder folder;
  const std::string path = folder.file("records");
  const std::string whole = framed(three_records());
  const std::vector<std::size_t> ends = {0, 21, 21 + 76, whole.size()};
  for (std::size_t length = 0; length < whole.size(); ++length) {
    test::write_file(path, whole.substr(0, length));
    const std::string message = test::message_of<DataError>([&] { read_all(path); });
    if (std::find(ends.begin(), ends.end(), length) != ends.end()) {
      EXPECT_EQ(message, "") << "a cut between records is a clean end: " << length;
      continue;
    }
    const auto next_end = std::upper_bound(ends.begin(), ends.end(), length);
    EXPECT_THAT(message,
                HasSubstr(fmt::format("{}, offset {}: truncated record", path, *(next_end - 1))));
  }
}

TEST(TfRecord, DetectsEveryFlippedBit) {
  const TemporaryFolder folder;
  const std::string path = folder.file("records");
  const std::string whole = framed(three_records());
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    test::write_file(path, damaged);
    EXPECT_THROW(read_all(path), DataError) << "bit " << bit;
  }
}

TEST(TfRecord, RefusesAnImpossibleLength) {
  const TemporaryFolder folder;
  const std::string path = folder.file("records");
  const std::string length(8, '\xff');
  test::write_file(path, length + frame_tfrecord(length).substr(12 + 8, 4) + std::string(100, ' '));
  EXPECT_EQ(test::message_of<DataError>([&] { read_all(path); }),
            path +
                ", offset 0: truncated record: its length is 18446744073709551615 bytes, more "
                "than any file can hold");
}

TEST(TfRecord, RefusesALengthBeyondTheFileBeforeAllocatingIt) {
  const TemporaryFolder folder;
  const std::string path = folder.file("records");
  // A valid header that promises 2^60 bytes; a framed record supplies the checksum of that length.
  std::string length(8, '\0');
  length[7] = '\x10';
  const std::string as_data = frame_tfrecord(length);
  test::write_file(path, length + as_data.substr(12 + 8, 4) + "short");
  EXPECT_THAT(test::message_of<DataError>([&] { read_all(path); }), HasSubstr("truncated record"));
}

TEST(TfRecord, NamesTheFormatOfAForeignFile) {
  const TemporaryFolder folder;
  const std::string path = folder.file("records");
  const std::string padding(16, '\0');
  const std::vector<std::pair<std::string, std::string>> kinds{
      {"BZh9", "only gzip and zlib are accepted"},
      {"version https://git-lfs.github.com/spec/v1", "git lfs pull"},
      {"<!DOCTYPE html>", "it is an HTML page"},
      {"\xff\xd8\xff\xe0", "tools/make_tfrecords"},
      {"", "it begins with zeros"}};
  for (const auto& [start, kind] : kinds) {
    test::write_file(path, start + padding);
    EXPECT_THAT(test::message_of<DataError>([&] { read_all(path); }),
                HasSubstr("records, offset 0: this is not a TFRecord: "));
    EXPECT_THAT(test::message_of<DataError>([&] { read_all(path); }), HasSubstr(kind));
  }
  test::write_file(path, "this is some text and no TFRecord at all");
  EXPECT_THAT(test::message_of<DataError>([&] { read_all(path); }), HasSubstr("not a TFRecord"));
  EXPECT_THAT(test::message_of<DataError>([&] { read_all(folder.file("absent")); }),
              HasSubstr("absent: cannot read the file"));
}

/// Compresses by zlib; `window_bits` choose its format or gzip's.
std::string compressed(const std::string& data, int window_bits) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(data.size() + 1000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}
constexpr int kGzip = 15 + 16;
constexpr int kZlib = 15;

/// Records that need several blocks of the decompressor.
std::vector<std::string> many_records() {
  std::vector<std::string> records;
  for (unsigned i = 0; i < 300; ++i) {
    std::string record;
    for (unsigned j = 0; j < 37 * i; ++j) {
      record.push_back(static_cast<char>((i * j * j) >> 7U));
    }
    records.push_back(record);
  }
  return records;
}

TEST(CompressedTfRecord, HasTheRecordsOfTheOrdinaryFile) {
  const TemporaryFolder folder;
  const std::string path = folder.file("records");
  for (const int format : {kGzip, kZlib}) {
    test::write_file(path, compressed(framed(many_records()), format));
    EXPECT_EQ(read_all(path), many_records());
    EXPECT_EQ(read_all(path, 100), many_records());
    test::write_file(path, compressed("", format));
    EXPECT_TRUE(read_all(path).empty());
  }
  test::write_file(path, compressed(framed({"a", "b"}), kGzip) + compressed(framed({"c"}), kGzip));
  EXPECT_EQ(read_all(path), (std::vector<std::string>{"a", "b", "c"})) << "two members";
  test::write_file(path, compressed(framed({"a", "b"}), kGzip) + "padding");
  EXPECT_EQ(read_all(path), (std::vector<std::string>{"a", "b"}));
}

TEST(CompressedTfRecord, IsReadFromAnyRecord) {
  const TemporaryFolder folder;
  const std::string path = folder.file("records");
  test::write_file(path, compressed(framed(many_records()), kGzip));
  TfRecordReader reader(path, TfRecordReader::kNoBlocks);
  EXPECT_TRUE(reader.is_compressed());
  std::vector<TfRecordPlace> places;
  while (const auto place = reader.skip()) {
    places.push_back(*place);
  }
  ASSERT_EQ(places.size(), 300U);
  for (const std::size_t i : {299U, 0U, 17U, 16U, 200U}) {
    reader.seek(places[i].offset);
    EXPECT_EQ(reader.next()->data, many_records()[i]);
  }
}

TEST(CompressedTfRecord, IsRefusedIfDamagedOrTruncated) {
  const TemporaryFolder folder;
  const std::string path = folder.file("records");
  for (const int format : {kGzip, kZlib}) {
    const std::string whole = compressed(framed(many_records()), format);
    const auto message = [&](const std::string& file) {
      test::write_file(path, file);
      return test::message_of<DataError>([&] { read_all(path); });
    };
    EXPECT_EQ(message(whole), "");
    for (const std::size_t bytes : {whole.size() - 1, whole.size() / 2, std::size_t{20}}) {
      EXPECT_THAT(message(whole.substr(0, bytes)), HasSubstr("truncated")) << bytes;
    }
    std::string damaged = whole;
    damaged[whole.size() / 2] = static_cast<char>(damaged[whole.size() / 2] ^ 0x55);
    EXPECT_THAT(message(damaged), testing::AnyOf(HasSubstr("damaged"), HasSubstr("corrupted"),
                                                 HasSubstr("checksum"), HasSubstr("truncated")));
    EXPECT_THAT(test::message_of<DataError>([&] {
                  test::write_file(path,
                                   compressed(framed(many_records()).substr(0, 200000), format));
                  TfRecordReader reader(path, TfRecordReader::kNoBlocks);
                  while (reader.skip()) {
                  }
                }),
                HasSubstr("truncated record"));
    EXPECT_THAT(message(compressed(framed({"whole"}) + "part", format)),
                HasSubstr("truncated record: they have 4 of its 12 bytes"));
  }
}

TEST(TfRecordReader, SkipsRecordsAndReturnsToThem) {
  const TemporaryFolder folder;
  const std::string path = folder.file("records");
  test::write_file(path, framed(three_records()));
  for (const std::size_t block : {TfRecordReader::kNoBlocks, std::size_t{16}, std::size_t{1000}}) {
    TfRecordReader reader(path, block);
    std::vector<TfRecordPlace> places;
    while (const auto place = reader.skip()) {
      places.push_back(*place);
    }
    ASSERT_EQ(places.size(), three_records().size());
    for (const std::size_t i : {2U, 0U, 1U}) {
      reader.seek(places[i].offset);
      const auto record = reader.next();
      ASSERT_TRUE(record);
      EXPECT_EQ(record->data, three_records()[i]);
      EXPECT_EQ(record->offset, places[i].offset);
      EXPECT_EQ(places[i].bytes, frame_tfrecord(record->data).size());
    }
  }
}

TEST(TfRecordReader, FindsATruncatedRecordWithoutReadingIt) {
  const TemporaryFolder folder;
  const std::string path = folder.file("records");
  const std::string whole = framed({"first", "second"});
  test::write_file(path, whole.substr(0, whole.size() - 1));
  TfRecordReader reader(path, TfRecordReader::kNoBlocks);
  EXPECT_TRUE(reader.skip());
  EXPECT_THAT(test::message_of<DataError>([&] { reader.skip(); }),
              HasSubstr("records, offset 21: truncated record: the file has 21 of its 22 bytes"));
}

TEST(TfRecordReader, ReadsWhatIsAppendedWhileItReads) {
  const TemporaryFolder folder;
  const std::string path = folder.file("records");
  test::write_file(path, framed({"first"}));
  TfRecordReader reader(path, 16);
  EXPECT_TRUE(reader.next());
  std::ofstream(path, std::ios::binary | std::ios::app) << framed({std::string(100, 'x'), "third"});
  for (const std::string& expected : {std::string(100, 'x'), std::string("third")}) {
    const auto record = reader.next();
    ASSERT_TRUE(record) << expected;
    EXPECT_EQ(record->data, expected);
  }
  EXPECT_FALSE(reader.next());
}

TEST(TfRecordReader, NamesAFileThatShrinksWhileItReads) {
  const TemporaryFolder folder;
  const std::string path = folder.file("records");
  const std::string whole = framed({"first", std::string(100, 'x')});
  test::write_file(path, whole);
  TfRecordReader reader(path, 16);
  EXPECT_TRUE(reader.next());
  std::filesystem::resize_file(path, whole.size() - 50);
  EXPECT_THAT(test::message_of<DataError>([&] { reader.next(); }),
              HasSubstr("records, offset 21: truncated record: the file has 66 of its 116 bytes"));
  std::filesystem::resize_file(path, 5);
  TfRecordReader short_reader(path, 16);
  EXPECT_THAT(test::message_of<DataError>([&] { short_reader.next(); }),
              HasSubstr("the file has 5 of its 12 bytes"));
}

TEST(TfRecordReader, DoesNotWaitForAPipe) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  EXPECT_THAT(test::message_of<DataError>([&] { TfRecordReader reader(folder.file("pipe")); }),
              HasSubstr("pipe: cannot read the file: it is not a regular file"));
}

TEST(TfRecordWriter, LeavesNoFileUnlessFinished) {
  const TemporaryFolder folder;
  {
    TfRecordWriter writer(folder.file("records"));
    writer.write("data");
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_THROW(TfRecordWriter(folder.file("no/such/folder")), WriteError);
}

}  // namespace
}  // namespace bench
