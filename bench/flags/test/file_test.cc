#include "bench/flags/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "bench/flags/test/usage_error.h"
#include "models/base/test/scratch_folder.h"

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Flag files in a scratch folder.
class FlagFiles {
 public:
  /// Writes a file and returns the flag that names it.
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() / name) << text;
    return flag(name);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() / name; }
  [[nodiscard]] std::string flag(const std::string& name) const {
    return fmt::format("--flagfile={}", path(name));
  }

 private:
  ScratchFolder folder_;
};

std::vector<std::string> expanded(const std::vector<std::string_view>& arguments) {
  std::vector<std::string> texts;
  for (const Argument& argument : expand_flag_files(arguments).arguments) {
    texts.push_back(argument.text);
  }
  return texts;
}

TEST(FlagFile, IsReplacedByItsLines) {
  const FlagFiles files;
  const std::string flag =
      files.write("a", "--model=lenet\n\n  -batch_size=4 \r\n# no\n// no\n--eval");
  EXPECT_THAT(expanded({"--x", flag, "--y"}),
              ElementsAre("--x", "--model=lenet", "-batch_size=4", "--eval", "--y"));
  const std::string path = files.path("a");
  EXPECT_THAT(expanded({"-flagfile", path}),
              ElementsAre("--model=lenet", "-batch_size=4", "--eval"));
  EXPECT_THAT(expanded({"--", flag}), ElementsAre("--", flag));
  EXPECT_THAT(expanded({files.write("empty", "")}), IsEmpty());
}

TEST(FlagFile, MayNameOthersAndTheSameOneTwice) {
  const FlagFiles files;
  const std::string inner = files.write("inner", "--model=lenet\n");
  const std::string outer = files.write("outer", inner + "\n--batch_size=4\n" + inner);
  EXPECT_THAT(expanded({outer}), ElementsAre("--model=lenet", "--batch_size=4", "--model=lenet"));
  EXPECT_THAT(expand_flag_files(std::vector<std::string_view>{outer}).files,
              ElementsAre(files.path("outer"), files.path("inner"), files.path("inner")));
}

TEST(FlagFile, IsOverriddenByLaterFlags) {
  const FlagFiles files;
  const std::string flag = files.write("a", "--batch_size=4\n--display_every=7\n");
  const ParseResult result = parse({"--batch_size=2", flag, "--display_every=8"});
  EXPECT_EQ(result.flags.batch_size, "4");
  EXPECT_EQ(result.flags.display_every, 8);
  EXPECT_EQ(result.notices.size(), 2);
}

TEST(FlagFile, IsNamedWithTheLineOfARefusedFlag) {
  const FlagFiles files;
  const auto refused = [&](const std::string& line) {
    const std::string flag = files.write("a", "# one\n" + line + "\n--batch_size=4\n");
    const std::string message = refusal({flag});
    const std::string start = fmt::format("{}, line 2: ", files.path("a"));
    EXPECT_TRUE(message.starts_with(start)) << message;
    return message.substr(start.size());
  };
  EXPECT_EQ(refused("--bs=4"), "--bs: unknown flag; did you mean --batch_size?");
  EXPECT_EQ(refused("--display_every=0"),
            "--display_every=0: expected a whole number of at least 1");
  EXPECT_EQ(refused("--forward_only=maybe"), "--forward_only=maybe: expected true or false");
  EXPECT_THAT(refused("--server_protocol=grpc+mpi"),
              HasSubstr("--server_protocol=grpc+mpi: not applicable: "));
  EXPECT_EQ(refused("--model lenet"),
            "'--model lenet' is not a flag; write each line as --name=value");
  EXPECT_EQ(refused("lenet"), "'lenet' is not a flag; write each line as --name=value");
  EXPECT_THAT(refused("--model"), HasSubstr("--model needs a value"));  // not the next line
  EXPECT_EQ(
      refused(files.flag("absent")),
      fmt::format("{}: cannot read the file: No such file or directory", files.flag("absent")));
  EXPECT_EQ(refused(files.flag("a")), fmt::format("{}: the file includes itself", files.flag("a")));
}

TEST(FlagFile, IsRefusedWhereItCannotBeRead) {
  const FlagFiles files;
  EXPECT_THAT(refusal({"--flagfile=/absent"}),
              HasSubstr("--flagfile=/absent: cannot read the file: No "));
  EXPECT_THAT(refusal({"--flagfile=/"}), HasSubstr("--flagfile=/: this is a folder"));
  EXPECT_THAT(refusal({"--flagfile="}), HasSubstr("--flagfile=: cannot read the file"));
  EXPECT_THAT(refusal({"--flagfile"}), HasSubstr("--flagfile needs a value"));
  EXPECT_THAT(refusal({"--flagfile", "--model=lenet"}), HasSubstr("--flagfile needs a value"));
  EXPECT_THAT(refusal({files.write("large", std::string((1 << 20) + 1, '#'))}),
              HasSubstr("the file is larger than 1 MiB"));
}

TEST(Undefok, IgnoresUnknownFlagsInAnyPosition) {
  const ParseResult result = parse({"--foo=1", "--nobar", "--undefok=foo,bar", "--batch_size=4"});
  EXPECT_EQ(result.flags.batch_size, "4");
  EXPECT_THAT(result.notices, ElementsAre("--foo: unknown flag, ignored because of --undefok",
                                          "--nobar: unknown flag, ignored because of --undefok"));
  EXPECT_THAT(refusal({"--undefok=foo", "--baz=1"}), HasSubstr("--baz: unknown flag"));
  EXPECT_THAT(parse({"--undefok", "lr", "--undefok=bs", "--bs=1", "--lr=2"}).notices.size(), 2);
}

TEST(Undefok, LeavesKnownFlagsAlone) {
  EXPECT_EQ(parse({"--undefok=batch_size", "--batch_size=4"}).flags.batch_size, "4");
  EXPECT_THAT(refusal({"--undefok=batch_size", "--batch_size=x"}), HasSubstr("--batch_size=x"));
}

}  // namespace
}  // namespace bench
