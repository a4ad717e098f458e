#include "results/environment/dimms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/environment/test/fake_system.h"

namespace bench {
namespace {

using ::testing::HasSubstr;

constexpr const char* kTable = "/sys/firmware/dmi/tables/DMI";

/// A structure of the table, followed by its strings.
std::string structure(std::string formatted, const std::vector<std::string>& texts) {
  formatted[1] = static_cast<char>(formatted.size());
  for (const std::string& text : texts) formatted += text + std::string(1, '\0');
  return formatted + std::string(texts.empty() ? 2 : 1, '\0');
}

struct Module {
  int size = 0;  ///< In MiB, like the field.
  std::int64_t extended_mib = 0;
  int kind = 0x22;
  int speed = 4800;
};

/// A memory device in the layout of SMBIOS 2.7 and later.
std::string module(const Module& made, const std::vector<std::string>& texts) {
  std::string bytes(0x28, '\0');
  bytes[0] = 17;
  const auto put = [&](std::size_t offset, std::int64_t value, int count) {
    for (int i = 0; i < count; ++i) {
      bytes[offset + static_cast<std::size_t>(i)] = static_cast<char>((value >> (8 * i)) & 0xff);
    }
  };
  put(0x0c, made.size, 2);
  put(0x10, 1, 1);
  put(0x12, made.kind, 1);
  put(0x1a, 2, 1);
  put(0x1c, made.extended_mib, 4);
  put(0x20, made.speed, 2);
  return structure(bytes, texts);
}

std::vector<results::Dimm> dimms_of(const std::string& table) {
  const FakeSystem system;
  system.write(kTable, table);
  return capture_dimms(system.files()).value();
}

TEST(Dimms, OmitEmptySlots) {
  const std::string board = structure(std::string("\x02\x00\x00\x00", 4), {"a board"});
  const auto dimms = dimms_of(
      board + module({.size = 16384}, {"DIMM A1", "M321R2GA3BB6  "}) +
      module({.size = 0}, {"DIMM A2", "none"}) +
      module({.size = 0x7fff, .extended_mib = 65536, .kind = 0x1a, .speed = 0}, {"DIMM B1"}) +
      structure(std::string("\x7f\x00\x00\x00", 4), {}));
  ASSERT_EQ(dimms.size(), 2U);
  EXPECT_EQ(dimms[0].slot.value(), "DIMM A1");
  EXPECT_EQ(dimms[0].part.value(), "M321R2GA3BB6");
  EXPECT_EQ(dimms[0].bytes.value(), std::int64_t{16} << 30);
  EXPECT_EQ(dimms[0].kind.value(), "DDR5");
  EXPECT_EQ(dimms[0].megatransfers_per_second.value(), 4800);
  EXPECT_EQ(dimms[1].bytes.value(), std::int64_t{64} << 30);
  EXPECT_EQ(dimms[1].kind.value(), "DDR4");
  EXPECT_EQ(dimms[1].megatransfers_per_second.why(), "the firmware does not report it");
  EXPECT_EQ(dimms[1].part.why(), "the firmware does not report it");
}

TEST(Dimms, ADamagedTableEndsWhereItIsDamaged) {
  const std::string whole = module({.size = 1024}, {"A", "B"});
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    const FakeSystem system;
    system.write(kTable, module({.size = 2048}, {"A", "B"}) + whole.substr(0, cut));
    const auto dimms = capture_dimms(system.files());
    ASSERT_TRUE(dimms.known()) << cut;
    EXPECT_EQ(dimms.value()[0].bytes.value(), std::int64_t{2} << 30) << cut;
  }
}

TEST(Dimms, SayWhyTheyAreNotKnown) {
  const FakeSystem system;
  EXPECT_THAT(capture_dimms(system.files()).why(), HasSubstr(kTable));
  system.write(kTable, structure(std::string("\x7f\x00\x00\x00", 4), {}));
  EXPECT_THAT(capture_dimms(system.files()).why(), HasSubstr("lists no memory module"));
}

}  // namespace
}  // namespace bench
