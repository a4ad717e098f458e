#include "tools/make_tfrecords_src/idx_file.h"

#include <gtest/gtest.h>

#include "models/base/errors.h"
#include "pipeline/test/support.h"

namespace bench {
namespace {

const std::string& two_by_three() {
  static const std::string kFile(
      "\0\0\x08\x02\0\0\0\x02\0\0\0\x03"
      "abcdef",
      18);
  return kFile;
}

TEST(IdxFile, ReadsExtentsAndElements) {
  const test::TemporaryFolder folder;
  test::write_file(folder.file("idx"), two_by_three());
  const IdxFile file = read_idx_file(folder.file("idx"));
  EXPECT_EQ(file.extents, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(file.bytes, "abcdef");
}

TEST(IdxFile, ReadsGzip) {
  const test::TemporaryFolder folder;
  // `two_by_three` through gzip -n: one stored block, CRC-32 and length.
  const std::string header("\x1f\x8b\x08\0\0\0\0\0\0\x03\x01\x12\0\xed\xff", 15);
  const std::string footer("\x83\xda\x46\x2f", 4);
  test::write_file(folder.file("idx.gz"),
                   header + two_by_three() + footer + std::string("\x12\0\0\0", 4));
  EXPECT_EQ(read_idx_file(folder.file("idx.gz")).bytes, "abcdef");
}

TEST(IdxFile, RefusesTruncatedAndForeignFiles) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("idx");
  for (std::size_t length = 0; length < two_by_three().size(); ++length) {
    test::write_file(path, two_by_three().substr(0, length));
    EXPECT_THROW(read_idx_file(path), DataError) << length;
  }
  test::write_file(path, two_by_three() + "g");
  EXPECT_THROW(read_idx_file(path), DataError);
  test::write_file(path, std::string("\x1f\x8b\x08\0\0\0", 6));
  EXPECT_THROW(read_idx_file(path), DataError);
  EXPECT_THROW(read_idx_file(folder.file("absent")), DataError);
}

}  // namespace
}  // namespace bench
