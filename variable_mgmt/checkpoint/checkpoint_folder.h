#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "models/base/tensor_file.h"

namespace bench {

/// A complete checkpoint.
struct CheckpointFile {
  /// The steps that were complete, warm-up included.
  std::int64_t step = 0;
  std::filesystem::path path;
};

/// The checkpoints in a folder, by step. Empty if the folder does not exist. Throws UsageError if
/// it cannot be read.
std::vector<CheckpointFile> find_checkpoints(const std::filesystem::path& folder);

/// The checkpoints of one training run: files model.ckpt-STEP.safetensors, and `checkpoint`, which
/// lists them in the format of TensorFlow. No other process can use the folder meanwhile.
class CheckpointFolder {
 public:
  /// Creates the folder if it does not exist, and removes what a killed run left incomplete. `keep`
  /// is the number of checkpoints to keep; 0: all. Throws UsageError if the folder cannot be
  /// written or another process uses it.
  CheckpointFolder(std::filesystem::path folder, std::int64_t keep);
  ~CheckpointFolder();
  CheckpointFolder(CheckpointFolder&& other) noexcept;
  CheckpointFolder& operator=(CheckpointFolder&&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return folder_; }
  /// Writes a checkpoint, and then removes the oldest ones beyond the number to keep. Waits for the
  /// disk. Throws WriteError; all earlier checkpoints then remain.
  void write(std::int64_t step, std::span<const TensorToWrite> tensors,
             const std::map<std::string, std::string>& metadata) const;

 private:
  /// Returns false if the file system has no locks. Throws UsageError.
  bool lock();
  void remove_old() const;
  void write_list(const std::vector<CheckpointFile>& files) const;

  std::filesystem::path folder_;
  std::int64_t keep_;
  /// The folder is removed again if no checkpoint is written.
  bool created_ = false;
  int lock_ = -1;
};

}  // namespace bench
