#include "results/environment/system_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/environment/test/fake_system.h"

namespace bench {
namespace {

using ::testing::ElementsAre;

TEST(SystemFiles, ReadsBelowItsRootAndTrimsTheEnd) {
  const FakeSystem system;
  system.write("/proc/sys/kernel/hostname", " node7 \n\n");
  EXPECT_EQ(system.files().read("/proc/sys/kernel/hostname").value(), " node7");
}

TEST(SystemFiles, NamesAMissingFileWithoutTheRoot) {
  const FakeSystem system;
  EXPECT_EQ(system.files().read("/sys/absent").why(),
            "cannot open /sys/absent: No such file or directory");
  system.make_folder("/sys/folder");
  EXPECT_EQ(system.files().read("/sys/folder").why(), "cannot read /sys/folder: Is a directory");
}

TEST(SystemFiles, ReadsTheFirstNumber) {
  const FakeSystem system;
  system.write("/a", "42 100000\n");
  system.write("/b", "max 100000\n");
  EXPECT_EQ(system.files().read_integer("/a").value(), 42);
  EXPECT_EQ(system.files().read_integer("/b").why(), "/b: 'max' is not a number");
}

TEST(ParseProcessorList, ExpandsRanges) {
  EXPECT_THAT(parse_processor_list("0-3,8,10-11\n").value(), ElementsAre(0, 1, 2, 3, 8, 10, 11));
  EXPECT_THAT(parse_processor_list("").value(), ElementsAre());
  for (const char* bad : {"3-1", "x", "1-", "-1", "0-99999999999"}) {
    EXPECT_FALSE(parse_processor_list(bad).known()) << bad;
  }
}

TEST(FieldOf, FindsWholeNamesOnly) {
  const std::string text = "SwapCached:  0 kB\nmodel\t\t: 17\nmodel name\t: EPYC: 9\n";
  EXPECT_EQ(field_of(text, "model").value(), "17");
  EXPECT_EQ(field_of(text, "model name").value(), "EPYC: 9");
  EXPECT_EQ(field_of(text, "Cached").why(), "the kernel does not report 'Cached'");
}

}  // namespace
}  // namespace bench
