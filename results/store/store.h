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

/// A name for runs that others are held against.
struct Baseline {
  std::string name{};
  std::string selector{};  ///< As it was given.
  std::vector<std::string> run_ids{};
  std::int64_t created_ms = 0;
  std::string note{};
};

/// What somebody, or a run of track, said of a change in a series.
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

/// Where runs are kept: one SQLite file, or a folder with a file per record and an index that is
/// made anew from the files whenever they and it differ. What is added is on the disk when the call
/// returns, whole, or not at all; any number of programs may add at once. Calls throw DataError and
/// WriteError as Database does.
class Store {
 public:
  enum class Access : std::uint8_t { kRead, kWrite };
  /// A path that is a folder, or ends in /, is one of records. kWrite makes what is not there;
  /// kRead throws DataError then.
  Store(const std::filesystem::path& path, Access access);
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  /// False where a run of this record_id is there already.
  bool add(const StoredRun& run);
  /// All of them or none; returns how many were not there already.
  std::size_t add(std::span<const StoredRun> runs);

  /// What a list shows: the columns (see sql_of_column) of each run that `filter` means, newest
  /// first, at most `limit`. Reads no record.
  [[nodiscard]] std::vector<std::vector<Cell>> list(std::span<const std::string> columns,
                                                    const Filter& filter, std::int64_t limit) const;
  /// The runs that `filter` means, oldest first, without their records: `record` is null.
  [[nodiscard]] std::vector<StoredRun> summaries(const Filter& filter) const;
  /// The same with their records, checked as stored_run() does.
  [[nodiscard]] std::vector<StoredRun> load(const Filter& filter) const;

  /// Replaces the one of its name.
  void set_baseline(const Baseline& baseline);
  [[nodiscard]] std::vector<Baseline> baselines() const;
  /// False where there is none of this name.
  bool remove_baseline(const std::string& name);

  /// Replaces the note on the same run of the same series.
  void set_change(const ChangeNote& note);
  [[nodiscard]] std::vector<ChangeNote> changes() const;
  /// Nothing where there is none.
  void remove_change(const std::string& series_key, const std::string& at_run);
  void annotate(const Annotation& annotation);
  [[nodiscard]] std::vector<Annotation> annotations() const;

  /// Of a folder: files that are no records and were left out, a sentence each.
  [[nodiscard]] const std::vector<std::string>& warnings() const;
  [[nodiscard]] std::int64_t size() const;

 private:
  /// Changes rows of the table, and its file where the store is a folder, together.
  void change(const char* table, const std::function<void()>& rows);

  struct Folder;
  std::unique_ptr<Folder> folder_;  ///< Null for a database alone.
  std::unique_ptr<Database> database_;
};

/// Throws what opening this store for writing would (WriteError, DataError), and makes nothing:
/// what refuses a run later leaves no empty store behind.
void check_can_store(const std::filesystem::path& path);

/// A condition that holds for these record_ids, and for ids that begin with one of them.
Filter filter_of_ids(std::span<const std::string> record_ids);

/// Throws away the index of a folder and makes it anew; returns how many records are in it. Throws
/// UsageError where `path` is no folder.
std::int64_t reindex(const std::filesystem::path& path);

/// $BENCH_STORE, else results.sqlite in bench's folder of $XDG_DATA_HOME, else of ~/.local/share.
/// Throws UsageError where there is neither.
std::filesystem::path default_store_path();

}  // namespace bench::results
