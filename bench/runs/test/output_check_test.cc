#include "bench/runs/output_check.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "bench/flags/test/usage_error.h"
#include "models/base/test/scratch_folder.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class OutputCheck : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path(const char* name) const { return folder_.path() / name; }
  std::string make(const char* name) const {
    std::ofstream(path(name)) << name;
    return path(name);
  }
  static std::string refusal(const Flags& flags) {
    return usage_error([&] { check_outputs(flags); });
  }

  Flags flags_ = {};

 private:
  ScratchFolder folder_;
};

TEST_F(OutputCheck, TakesFilesOfTheirOwn) {
  flags_.result_file = path("r.json");
  flags_.save_variables = path("v");
  flags_.trace_file = "/dev/null";
  flags_.init_from = make("w");
  check_outputs(flags_);
  EXPECT_FALSE(fs::exists(path("r.json")));
  flags_.result_file = "/dev/null";
  check_outputs(flags_);
}

TEST_F(OutputCheck, RefusesTwoOutputsOnOneFileHoweverSpelled) {
  fs::create_symlink("s", path("link"));
  flags_.result_file = path("s");
  for (const char* const same : {"s", "./s", "link"}) {
    flags_.save_variables = path(same);
    EXPECT_EQ(refusal(flags_),
              cat("--result_file and --save_variables name one file, ", path("s")));
  }
  make("s");
  fs::create_hard_link(path("s"), path("hard"));
  flags_.save_variables.reset();
  flags_.trace_file = path("hard");
  EXPECT_THAT(refusal(flags_), HasSubstr("--result_file and --trace_file name one file"));
}

TEST_F(OutputCheck, RefusesAnOutputOnWhatIsRead) {
  make("w");
  fs::create_symlink("w", path("link"));
  flags_.init_from = path("w");
  flags_.result_file = path("link");
  EXPECT_EQ(refusal(flags_), cat("--result_file=", path("link"), " would overwrite ", path("w"),
                                 ", which --init_from reads"));
  flags_.init_from.reset();
  flags_.input_file = path("w");
  EXPECT_THAT(refusal(flags_), HasSubstr("which --input_file reads"));
  flags_.input_file.reset();
  flags_.data_dir = path("");
  EXPECT_THAT(refusal(flags_), HasSubstr("which --data_dir reads"));
  flags_.result_file = path("new.json");
  check_outputs(flags_);
}

TEST_F(OutputCheck, RefusesTheFileThatItsOwnLinesGoTo) {
  const int log = open(path("log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const int saved = dup(STDERR_FILENO);
  dup2(log, STDERR_FILENO);
  flags_.result_file = path("log");
  const std::string by_name = refusal(flags_);
  flags_.result_file = "/dev/stderr";
  const std::string by_stream = refusal(flags_);
  dup2(saved, STDERR_FILENO);
  close(saved);
  close(log);
  EXPECT_THAT(by_name, HasSubstr("is the file that standard error goes to; /dev/stderr writes"));
  EXPECT_EQ(by_stream, "no UsageError");
}

TEST_F(OutputCheck, KeepsTensorsAwayFromThePrintedResult) {
  for (const char* const name : {"-", "/dev/stdout"}) {
    flags_.save_variables = name;
    EXPECT_THAT(refusal(flags_), HasSubstr("tensors do not go to standard output"));
  }
}

TEST_F(OutputCheck, NamesTheFlagOfWhatCannotBeWritten) {
  flags_.trace_file = path("absent/t.json");
  EXPECT_THAT(refusal(flags_), HasSubstr("cannot write the file of --trace_file '"));
}

}  // namespace
}  // namespace bench
