#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "kernels/runtime/choices.h"

namespace bench {

/// The named properties that determine which kernels are the fastest.
struct TuningKey {
  /// The workload and the device; one set of choices is stored for each.
  std::map<std::string, std::string> subject;
  /// The versions of everything that computes there. Choices timed with other versions are not
  /// used.
  std::map<std::string, std::string> versions;

  [[nodiscard]] std::map<std::string, std::string> all() const;
  /// The first property that choices made for `then` do not share, as "was made for driver=12.8,
  /// which is now 13.0"; empty if they share all.
  [[nodiscard]] std::string difference(const std::map<std::string, std::string>& then) const;
};

/// The folder for timed choices: `tuning` in the first of BENCH_CACHE_DIR, XDG_CACHE_HOME/bench and
/// HOME/.cache/bench that is set. Returns nullopt if none of them is.
std::optional<std::filesystem::path> tuning_folder(
    const std::function<std::string(const std::string& variable)>& environment);

/// Stores timed choices on disk, one file for each subject. Its format is that of --choices_file,
/// except that it omits `made_for`.
class TuningCache {
 public:
  /// Without a folder it finds nothing and stores nothing.
  explicit TuningCache(std::optional<std::filesystem::path> folder) : folder_(std::move(folder)) {}

  struct Found {
    std::optional<Choices> choices = {};
    /// Why the stored file is unusable, in a sentence; empty without a file.
    std::string why_not = {};
  };
  [[nodiscard]] Found find(const TuningKey& key) const;
  /// Replaces the stored choices as a whole. Returns the reason if that fails, else an empty
  /// string.
  [[nodiscard]] std::string keep(const TuningKey& key, const Choices& choices) const;
  /// The file with the choices for a key; nullopt without a folder.
  [[nodiscard]] std::optional<std::filesystem::path> file(const TuningKey& key) const;

 private:
  std::optional<std::filesystem::path> folder_;
};

}  // namespace bench
