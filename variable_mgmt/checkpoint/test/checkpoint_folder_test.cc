#include "variable_mgmt/checkpoint/checkpoint_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "models/base/errors.h"
#include "models/base/test/scratch_folder.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

std::vector<std::int64_t> steps_in(const fs::path& folder) {
  std::vector<std::int64_t> steps;
  for (const CheckpointFile& file : find_checkpoints(folder)) {
    steps.push_back(file.step);
  }
  return steps;
}

TEST(CheckpointFolder, KeepsTheNewest) {
  const ScratchFolder scratch;
  const CheckpointFolder folder(scratch.path() / "a" / "b", 2);
  for (const std::int64_t step : {2, 10, 9}) {
    folder.write(step, {}, {});
  }
  EXPECT_THAT(steps_in(folder.path()), ElementsAre(9, 10));
  std::stringstream list;
  list << std::ifstream(folder.path() / "checkpoint").rdbuf();
  EXPECT_EQ(list.str(),
            "model_checkpoint_path: \"model.ckpt-10.safetensors\"\n"
            "all_model_checkpoint_paths: \"model.ckpt-9.safetensors\"\n"
            "all_model_checkpoint_paths: \"model.ckpt-10.safetensors\"\n");
}

TEST(CheckpointFolder, KeepsAllIfTheNumberIsZero) {
  const ScratchFolder scratch;
  const CheckpointFolder folder(scratch.path(), 0);
  for (std::int64_t step = 1; step < 9; ++step) {
    folder.write(step, {}, {});
  }
  EXPECT_EQ(steps_in(folder.path()).size(), 8U);
}

TEST(CheckpointFolder, IgnoresOtherFiles) {
  const ScratchFolder scratch;
  for (const char* name : {"model.ckpt-x.safetensors", "model.ckpt-.safetensors", "model.ckpt-3",
                           "model.ckpt--4.safetensors", "model.ckpt-5.safetensors"}) {
    std::ofstream(scratch.path() / name) << "x";
  }
  EXPECT_THAT(steps_in(scratch.path()), ElementsAre(5));
  EXPECT_THAT(steps_in(scratch.path() / "absent"), ElementsAre());
}

TEST(CheckpointFolder, RemovesWhatAKilledRunLeft) {
  const ScratchFolder scratch;
  const fs::path left = scratch.path() / ".model.ckpt-7.safetensors.123.tmp";
  const fs::path other = scratch.path() / ".other.123.tmp";
  std::ofstream(left) << "x";
  std::ofstream(other) << "x";
  const CheckpointFolder folder(scratch.path(), 0);
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(other));
}

TEST(CheckpointFolder, LeavesNothingWithoutACheckpoint) {
  const ScratchFolder scratch;
  const fs::path path = scratch.path() / "new";
  { const CheckpointFolder folder(path, 0); }
  EXPECT_FALSE(fs::exists(path));
  { CheckpointFolder(path, 0).write(1, {}, {}); }
  EXPECT_EQ(std::distance(fs::directory_iterator(path), fs::directory_iterator()), 2);
}

TEST(CheckpointFolder, RefusesASecondUser) {
  const ScratchFolder scratch;
  const CheckpointFolder folder(scratch.path(), 0);
  EXPECT_THROW(CheckpointFolder(scratch.path(), 0), UsageError);
}

TEST(CheckpointFolder, ReportsALostFolderAsAFailedWrite) {
  const ScratchFolder scratch;
  const CheckpointFolder folder(scratch.path() / "lost", 0);
  fs::remove_all(folder.path());
  EXPECT_THROW(folder.write(1, {}, {}), WriteError);
}

}  // namespace
}  // namespace bench
