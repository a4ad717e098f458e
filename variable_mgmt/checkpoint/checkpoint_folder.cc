#include "variable_mgmt/checkpoint/checkpoint_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "models/base/errors.h"
#include "models/base/text.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "model.ckpt-";
constexpr std::string_view kSuffix = ".safetensors";
constexpr const char* kLockFile = ".bench.lock";

UsageError refusal(const fs::path& folder, const std::string& why) {
  return UsageError(fmt::format("--train_dir={}: {}", printable(folder.string()), why));
}

/// The step in a checkpoint's name; nothing for other files.
std::optional<std::int64_t> step_in(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix) ||
      name.size() <= kPrefix.size() + kSuffix.size()) {
    return std::nullopt;
  }
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(kSuffix.size());
  std::int64_t step = 0;
  const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  const bool valid = error == std::errc() && rest == name.data() + name.size() && step >= 0;
  return valid ? std::optional(step) : std::nullopt;
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  fs::directory_iterator entries(folder, error);
  for (const fs::directory_iterator end; !error && entries != end; entries.increment(error)) {
    files.push_back(entries->path());
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw refusal(folder, fmt::format("cannot read the folder: {}", error.message()));
  }
  return files;
}

/// True for what AtomicFile leaves if its process is killed.
bool is_incomplete(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.ends_with(".tmp") &&
         (name.starts_with(fmt::format(".{}", kPrefix)) || name.starts_with(".checkpoint."));
}

}  // namespace

std::vector<CheckpointFile> find_checkpoints(const fs::path& folder) {
  std::vector<CheckpointFile> checkpoints;
  for (const fs::path& file : files_in(folder)) {
    if (const auto step = step_in(file.filename().string())) {
      checkpoints.push_back({.step = *step, .path = file});
    }
  }
  std::ranges::sort(checkpoints, {}, &CheckpointFile::step);
  return checkpoints;
}

CheckpointFolder::CheckpointFolder(fs::path folder, std::int64_t keep)
    : folder_(std::move(folder)), keep_(keep) {
  std::error_code error;
  created_ = fs::create_directories(folder_, error);
  if (error || !fs::is_directory(folder_, error)) {
    throw refusal(folder_, fmt::format("cannot create the folder: {}",
                                       error ? error.message() : "a file has this name"));
  }
  if (!lock()) {
    return;  // Without locks, incomplete files may be another host's.
  }
  fs::directory_iterator entries(folder_, error);
  for (const fs::directory_iterator end; !error && entries != end; entries.increment(error)) {
    if (is_incomplete(entries->path())) {
      std::error_code ignored;
      fs::remove(entries->path(), ignored);
    }
  }
}

bool CheckpointFolder::lock() {
  const fs::path path = folder_ / kLockFile;
  for (;;) {
    lock_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock_ < 0) {
      throw refusal(folder_, fmt::format("cannot write in the folder: {}", std::strerror(errno)));
    }
    const bool locked = ::flock(lock_, LOCK_EX | LOCK_NB) == 0;
    if (!locked && errno == EWOULDBLOCK) {
      ::close(std::exchange(lock_, -1));
      throw refusal(folder_, "another run of bench is using the folder; give each run its own");
    }
    struct stat status {};
    if (!locked || ::fstat(lock_, &status) != 0 || status.st_nlink > 0) {
      return locked;
    }
    // Another run removed the file between these calls.
    ::close(std::exchange(lock_, -1));
  }
}

CheckpointFolder::CheckpointFolder(CheckpointFolder&& other) noexcept
    : folder_(std::move(other.folder_)),
      keep_(other.keep_),
      created_(other.created_),
      lock_(std::exchange(other.lock_, -1)) {}

CheckpointFolder::~CheckpointFolder() {
  if (lock_ < 0) {
    return;
  }
  (void)::unlink((folder_ / kLockFile).c_str());
  ::close(lock_);
  if (created_) {
    (void)::rmdir(folder_.c_str());  // fails if it holds a checkpoint
  }
}

void CheckpointFolder::write(std::int64_t step, std::span<const TensorToWrite> tensors,
                             const std::map<std::string, std::string>& metadata) const {
  const fs::path path = folder_ / fmt::format("{}{}{}", kPrefix, step, kSuffix);
  try {
    write_tensor_file(AtomicFile(path, "checkpoint"), tensors, metadata);
    remove_old();
  } catch (const UsageError& error) {
    // The folder was usable when the run began.
    throw WriteError(error.what());
  }
}

void CheckpointFolder::remove_old() const {
  std::vector<CheckpointFile> files = find_checkpoints(folder_);
  const auto kept = static_cast<std::size_t>(keep_);
  const std::size_t too_many = keep_ == 0 || files.size() <= kept ? 0 : files.size() - kept;
  const auto first = files.begin() + static_cast<std::ptrdiff_t>(too_many);
  write_list({first, files.end()});
  // A checkpoint that cannot be removed does no harm.
  std::for_each(files.begin(), first, [](const CheckpointFile& file) {
    std::error_code error;
    fs::remove(file.path, error);
  });
}

void CheckpointFolder::write_list(const std::vector<CheckpointFile>& files) const {
  const auto line = [](std::string_view key, const CheckpointFile& file) {
    return fmt::format("{}: \"{}\"\n", key, file.path.filename().string());
  };
  std::string text = line("model_checkpoint_path", files.back());
  for (const CheckpointFile& file : files) {
    text += line("all_model_checkpoint_paths", file);
  }
  AtomicFile(folder_ / "checkpoint", "list of checkpoints").write(text);
}

}  // namespace bench
