#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "kernels/runtime/choices.h"

namespace bench {

/// What decides which kernels are the fastest, by names.
struct TuningKey {
  /// What is tuned, and on which device: one set of choices is kept for each.
  std::map<std::string, std::string> subject;
  /// Of all that computes there. Choices that were timed with others do not count.
  std::map<std::string, std::string> versions;
};

/// The folder for choices that were timed: `tuning` in that of BENCH_CACHE_DIR, of
/// XDG_CACHE_HOME/bench or of HOME/.cache/bench, the first that is set; none where none is.
std::optional<std::filesystem::path> tuning_folder(
    const std::function<std::string(const std::string& variable)>& environment);

/// Choices that were timed, on the disk: a file for each subject, what --choices_file reads but for
/// what they were made for.
class TuningCache {
 public:
  /// None: nothing is found nor kept.
  explicit TuningCache(std::optional<std::filesystem::path> folder) : folder_(std::move(folder)) {}

  struct Found {
    std::optional<Choices> choices = {};
    /// Why what is there is of no use, in a sentence; empty where nothing is there.
    std::string why_not = {};
  };
  [[nodiscard]] Found find(const TuningKey& key) const;
  /// Replaces what is there, as a whole. Returns why that could not be done; empty where it was.
  [[nodiscard]] std::string keep(const TuningKey& key, const Choices& choices) const;
  /// Where the choices for a key are; none without a folder.
  [[nodiscard]] std::optional<std::filesystem::path> file(const TuningKey& key) const;

 private:
  std::optional<std::filesystem::path> folder_;
};

}  // namespace bench
