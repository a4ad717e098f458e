#include "pipeline/formats/event_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "pipeline/formats/tfrecord_reader.h"
#include "pipeline/test/support.h"

namespace bench {
namespace {

using std::string_literals::operator""s;

/// The messages of the only file in a folder, whose checksums must be right.
std::vector<std::string> records_in(const std::string& folder) {
  const std::filesystem::directory_iterator file(folder);
  TfRecordReader reader(file->path());
  std::vector<std::string> records;
  while (const auto view = reader.next()) {
    check_data_crc(view->data, view->data_masked_crc);
    records.emplace_back(view->data);
  }
  return records;
}

std::string in_hex(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) {
    text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  return text;
}

TEST(EventSummary, HasTheBytesOfTensorFlow) {
  EXPECT_EQ(EventSummary().scalar("a", 1.5).serialize(),
            "\x0a\x08\x0a\x01\x61\x15\x00\x00\xc0\x3f"s);
}

TEST(EventHistogram, HasTheBytesOfTensorFlow) {
  EventHistogram histogram;
  for (const double number : {0.5, 0.5, 0.0, -3.0, std::numeric_limits<double>::quiet_NaN()}) {
    histogram.add(number);
  }
  EXPECT_EQ(histogram.count(), 4);
  // tf.compat.v1.summary.histogram of the first four, from TensorFlow 2.21.
  EXPECT_EQ(in_hex(histogram.serialize()),
            "0900000000000008c011000000000000e03f1900000000000010402100000000000000c029000000"
            "000000234032380d9cc5a0295509c068bc10359a0707c0000000000000000011ea2d819997713dfa"
            "e55a25d31fde3fb03125ee8091e03fffffffffffffef7f3a380000000000000000000000000000f0"
            "3f0000000000000000000000000000f03f0000000000000000000000000000004000000000000000"
            "00");
}

TEST(EventFile, GrowsByRecordsWithStepAndTime) {
  const test::TemporaryFolder folder;
  EventFile file(folder.path());
  file.write(300, EventSummary().scalar("a", 1.5));
  // The file is complete after each call.
  const std::vector<std::string> records = records_in(folder.path());
  ASSERT_EQ(records.size(), 2U);
  EXPECT_TRUE(records[0].ends_with("\x10\x00\x1a\x0d"s + "brain.Event:2"));
  // Field 1 is the time in 8 bytes; 300 is ac 02; the summary has 10 bytes.
  EXPECT_EQ(records[1].substr(9),
            "\x10\xac\x02\x2a\x0a"s + EventSummary().scalar("a", 1.5).serialize());
  file.write(301, EventFile::Session::stop);
  EXPECT_TRUE(records_in(folder.path()).back().ends_with("\x10\xad\x02\x3a\x02\x08\x02"s));
}

}  // namespace
}  // namespace bench
