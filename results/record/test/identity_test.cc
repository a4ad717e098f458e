#include "results/record/identity.h"

#include <gtest/gtest.h>

namespace bench::results {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

// The examples of FIPS 180-4 and the lengths around a block's end.
TEST(Sha256, GivesThePublishedDigests) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// The example of RFC 9562, appendix A.6.
TEST(UuidV7, GivesThePublishedExample) {
  const system_clock::time_point time{milliseconds(0x017F22E279B0)};
  EXPECT_EQ(uuid_v7(time, {0x0c, 0xc3, 0x18, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f}),
            "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
}

TEST(UuidV7, DiffersFromRunToRun) {
  const system_clock::time_point time{milliseconds(1)};
  EXPECT_NE(new_run_uuid(time), new_run_uuid(time));
}

TEST(UtcText, HasMillisecondsAndKnowsTimesBefore1970) {
  EXPECT_EQ(utc_text(system_clock::time_point{milliseconds(1645557742123)}),
            "2022-02-22T19:22:22.123Z");
  EXPECT_EQ(utc_text(system_clock::time_point{milliseconds(-1)}), "1969-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace bench::results
