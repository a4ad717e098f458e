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
  static std::string refusal(const RunSettings& settings) {
    return usage_error([&] { check_outputs(settings); });
  }

  RunSettings settings_ = {};
  OutputFiles& files_ = settings_.outputs.files;

 private:
  ScratchFolder folder_;
};

TEST_F(OutputCheck, AcceptsDistinctFiles) {
  files_.result = path("r.json");
  files_.save_variables = path("v");
  files_.trace = "/dev/null";
  settings_.workload.init_from = make("w");
  check_outputs(settings_);
  EXPECT_FALSE(fs::exists(path("r.json")));
  files_.result = "/dev/null";
  check_outputs(settings_);
}

TEST_F(OutputCheck, RefusesTwoOutputsInOneFile) {
  fs::create_symlink("s", path("link"));
  files_.result = path("s");
  for (const char* const same : {"s", "./s", "link"}) {
    files_.save_variables = path(same);
    EXPECT_EQ(refusal(settings_),
              fmt::format(
                  "--result_file and --save_variables name the same file, {}; give different files",
                  path("s")));
  }
  make("s");
  fs::create_hard_link(path("s"), path("hard"));
  files_.save_variables.reset();
  files_.trace = path("hard");
  EXPECT_THAT(refusal(settings_), HasSubstr("--result_file and --trace_file name the same file"));
}

TEST_F(OutputCheck, RefusesToOverwriteAnInput) {
  make("w");
  fs::create_symlink("w", path("link"));
  settings_.workload.init_from = path("w");
  files_.result = path("link");
  EXPECT_EQ(
      refusal(settings_),
      fmt::format("--result_file={} would overwrite {}, which --init_from reads; give another file",
                  path("link"), path("w")));
  settings_.workload.init_from.reset();
  settings_.outputs.flag_files = {path("w")};
  EXPECT_THAT(refusal(settings_), HasSubstr("which --flagfile reads"));
  settings_.outputs.flag_files.clear();
  settings_.workload.input.file = path("w");
  EXPECT_THAT(refusal(settings_), HasSubstr("which --input_file reads"));
  settings_.workload.input.file.reset();
  settings_.workload.input.dataset = DatasetOptions{.data_dir = path("")};
  EXPECT_THAT(refusal(settings_), HasSubstr("which --data_dir reads"));
  files_.result = path("new.json");
  check_outputs(settings_);
}

TEST_F(OutputCheck, RefusesTheFileOfAStandardStream) {
  const int log = open(path("log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const int saved = dup(STDERR_FILENO);
  dup2(log, STDERR_FILENO);
  files_.result = path("log");
  const std::string by_name = refusal(settings_);
  files_.result = "/dev/stderr";
  const std::string by_stream = refusal(settings_);
  dup2(saved, STDERR_FILENO);
  close(saved);
  close(log);
  EXPECT_THAT(
      by_name,
      HasSubstr(
          "standard error is already redirected to this file; give /dev/stderr to append to it"));
  EXPECT_EQ(by_stream, "no UsageError");
}

TEST_F(OutputCheck, KeepsTensorsAwayFromThePrintedResult) {
  for (const char* const name : {"-", "/dev/stdout"}) {
    files_.save_variables = name;
    EXPECT_THAT(refusal(settings_), HasSubstr("tensors cannot go to standard output"));
  }
}

TEST_F(OutputCheck, NamesTheFlagOfWhatCannotBeWritten) {
  files_.trace = path("absent/t.json");
  EXPECT_THAT(refusal(settings_), HasSubstr("cannot write the file of --trace_file '"));
}

}  // namespace
}  // namespace bench
