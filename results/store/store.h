#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/store/filter.h"
#include "results/store/sqlite.h"
#include "results/store/stored_run.h"

namespace bench::results {

/// Is called with what is about to take long.
using TellSlow = std::function<void(const std::string& what)>;

/// A name for runs that others are compared with.
struct Baseline {
  std::string name{};
  std::string selector{};  ///< The text that the user gave.
  std::vector<std::string> run_ids{};
  std::int64_t created_ms = 0;
  std::string note{};
};

/// A note on a change in a series, by a person or by a run of track.
struct ChangeNote {
  std::string series_key{};
  std::string at_run{};  ///< record_id of the first run after the change.
  std::optional<double> p{};
  std::optional<double> effect{};
  std::optional<double> lo{};
  std::optional<double> hi{};
  std::string state{};  ///< new, ack, fixed, env or noise.
  std::string note{};
  std::string by{};
};

struct Annotation {
  std::string series_key{};
  std::string run{};
  std::string text{};
};

/// The store of runs: one SQLite file, or a folder with a file per record. The index of a folder is
/// rebuilt from the files whenever they differ. What is added is on disk when the call returns,
/// whole or not at all. Any number of programs may add at once. Calls throw DataError and
/// WriteError as Database does.
class Store {
 public:
  enum class Access : std::uint8_t { kRead, kWrite };
  /// A path that is a folder, or ends in /, is a folder store. kWrite creates what is missing;
  /// kRead then throws DataError.
  Store(const std::filesystem::path& path, Access access, const TellSlow& tell = nullptr);
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  /// Returns false if a run of this record_id is there already.
  bool add(const StoredRun& run);
  /// Adds all runs or none; returns how many were new.
  std::size_t add(std::span<const StoredRun> runs);

  /// The columns (see sql_of_column) of each run that `filter` selects, newest first, at most
  /// `limit`. Reads no record.
  [[nodiscard]] std::vector<std::vector<Cell>> list(std::span<const std::string> columns,
                                                    const Filter& filter, std::int64_t limit) const;
  /// The runs that `filter` selects, oldest first, without their records: `record` is null.
  [[nodiscard]] std::vector<StoredRun> summaries(const Filter& filter) const;
  /// The same with their records, checked as stored_run() does.
  [[nodiscard]] std::vector<StoredRun> load(const Filter& filter) const;

  /// Replaces a baseline of the same name.
  void set_baseline(const Baseline& baseline);
  [[nodiscard]] std::vector<Baseline> baselines() const;
  /// Returns false if the name is unknown.
  bool remove_baseline(const std::string& name);

  /// Replaces the note on the same run of the same series.
  void set_change(const ChangeNote& note);
  [[nodiscard]] std::vector<ChangeNote> changes() const;
  /// Does nothing if the note does not exist.
  void remove_change(const std::string& series_key, const std::string& at_run);
  void annotate(const Annotation& annotation);
  [[nodiscard]] std::vector<Annotation> annotations() const;

  /// For a folder: a sentence for each skipped file that is not a record.
  [[nodiscard]] const std::vector<std::string>& warnings() const;
  [[nodiscard]] std::int64_t size() const;

 private:
  /// Changes rows of the table together with its file, if the store is a folder.
  void change(const char* table, const std::function<void()>& rows);

  struct Folder;
  std::unique_ptr<Folder> folder_;  ///< Null for an SQLite file.
  std::unique_ptr<Database> database_;
};

/// Throws WriteError or DataError if this store cannot be opened for writing, and creates nothing.
/// A run that is refused later then leaves no empty store.
void check_can_store(const std::filesystem::path& path);

/// True for an SQLite file.
bool is_store_file(const std::filesystem::path& path);

/// A condition that holds for these record_ids, and for ids that begin with one of them.
Filter filter_of_ids(std::span<const std::string> record_ids);

/// Rebuilds the index of a folder; returns the number of records in it. Throws UsageError if `path`
/// is not a folder.
std::int64_t reindex(const std::filesystem::path& path, const TellSlow& tell = nullptr);

/// $BENCH_STORE, else results.sqlite in bench's folder of $XDG_DATA_HOME, else of ~/.local/share.
/// Throws UsageError if it needs $HOME, which is not set.
std::filesystem::path default_store_path();

}  // namespace bench::results
