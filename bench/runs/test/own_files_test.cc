#include "bench/runs/own_files.h"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(OwnFiles, HaveTheMarkBeforeTheExtension) {
  EXPECT_EQ(path_with("run.json", "batch8"), "run.batch8.json");
  EXPECT_EQ(path_with("/a.b/run", "batch16"), "/a.b/run.batch16");
  EXPECT_EQ(path_with("out/x.tar.gz", "repeat1"), "out/x.tar.repeat1.gz");
}

TEST(OwnFiles, AreOnlyTheOutputFiles) {
  RunSettings settings;
  settings.outputs.files.result = "r.json";
  settings.outputs.files.save_variables = "v.safetensors";
  settings.outputs.files.trace = "t.json";
  settings.outputs.files.benchmark_logs = "logs";
  settings.workload.init_from = "i";
  const OutputFiles own = with_own_files(settings, "devices2").outputs.files;
  EXPECT_EQ(own.result, "r.devices2.json");
  EXPECT_EQ(own.save_variables, "v.devices2.safetensors");
  EXPECT_EQ(own.trace, "t.devices2.json");
  EXPECT_EQ(own.benchmark_logs, "logs.devices2");
  EXPECT_EQ(with_own_files(settings, "devices2").workload.init_from, "i");
}

TEST(OwnFiles, HaveASeparateFolder) {
  RunSettings settings;
  for (const auto& [given, own] :
       {std::pair{"logs/", "logs.repeat0"}, {"run-1.2", "run-1.2.repeat0"}}) {
    settings.outputs.files.benchmark_logs = given;
    EXPECT_EQ(with_own_files(settings, "repeat0").outputs.files.benchmark_logs, own);
  }
}

TEST(OwnFiles, OmitStreamsAndUnsetFlags) {
  RunSettings settings;
  settings.outputs.files.result = "-";
  settings.outputs.files.trace = "/dev/null";
  const OutputFiles own = with_own_files(settings, "batch8").outputs.files;
  EXPECT_EQ(own.result, "-");
  EXPECT_EQ(own.trace, "/dev/null");
  EXPECT_FALSE(own.save_variables.has_value());
  EXPECT_FALSE(own.benchmark_logs.has_value());
}

}  // namespace
}  // namespace bench
