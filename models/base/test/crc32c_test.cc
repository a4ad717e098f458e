#include "models/base/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace bench {
namespace {

// RFC 3720, appendix B.4, and the check value of the CRC catalogue.
TEST(Crc32c, GivesThePublishedKnownAnswers) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8AB43U);
  std::string rising;
  for (char c = 0; c < 32; ++c) {
    rising += c;
  }
  EXPECT_EQ(crc32c(rising), 0x46DD794EU);
  EXPECT_EQ(crc32c(""), 0U);
}

TEST(Crc32c, MasksByRotationAndOffset) {
  EXPECT_EQ(mask_crc(0), 0xA282EAD8U);
  EXPECT_EQ(mask_crc(0x00008000U), 0xA282EAD9U);
  EXPECT_EQ(mask_crc(1), 0xA284EAD8U);
}

}  // namespace
}  // namespace bench
