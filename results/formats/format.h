#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/store/stored_run.h"

namespace bench::results {

/// A file of another tool, read whole.
struct ForeignFile {
  std::filesystem::path path{};  ///< Path in messages; some formats also read neighbouring files.
  std::string text{};
};

/// A file to write: its name, which may contain folders, and its content.
struct Output {
  std::string name{};
  std::string contents{};
  bool append = false;  ///< The format's own tool adds to such a file.
};

using Records = std::vector<nlohmann::json>;
using Outputs = std::vector<Output>;

/// One row: a file format of another tool. Unsupported operations are null.
struct Format {
  const char* name = "";
  const char* what = "";  ///< One phrase for the list of formats.
  /// True if the beginning of `source` has this format; the file may still be incomplete.
  bool (*sniff)(const ForeignFile& source) = nullptr;
  /// The runs in it, as records of schema bench.record/2 with their record_id. What the file lacks
  /// is null with a reason. Throws DataError: one sentence with the place.
  Records (*read)(const ForeignFile& source) = nullptr;
  /// The runs in this format. Throws UsageError if the format cannot hold them. Call write_runs().
  Outputs (*write)(std::span<const StoredRun> runs) = nullptr;
  bool holds_failures = true;  ///< False: its readers would take a failed run for a good one.
};

/// All formats, in the order in which files are tried.
std::span<const Format> formats();

/// Throws UsageError, naming the formats that can be written, if `name` is not one of them.
const Format& format_to_write(std::string_view name);

struct Written {
  Outputs outputs{};
  std::size_t omitted = 0;  ///< Runs that failed or were interrupted, which the format cannot hold.
};
/// The runs in the format, with distinct names of their workloads and machines. Throws UsageError
/// if the format cannot hold them.
Written write_runs(const Format& format, std::vector<StoredRun> runs);

/// The runs in the file at `path`, or in the folder of TensorFlow's logs there, in any known
/// format. Throws DataError if the file cannot be read or has no known format.
Records read_foreign(const std::filesystem::path& path);

/// The runs at `path`: read_runs() for our own records, read_foreign() for files of other tools.
/// For a folder, the runs of its files_with_runs(). Throws DataError.
std::vector<StoredRun> runs_in(const std::filesystem::path& path);

/// The files with runs of ours or of another tool: `path`, or the records and TensorFlow's logs in
/// the folder there and its subfolders.
std::vector<std::filesystem::path> files_with_runs(const std::filesystem::path& path);

/// Writes `outputs` below `folder`, which is created if missing. Throws WriteError.
void write_outputs(const Outputs& outputs, const std::filesystem::path& folder);

}  // namespace bench::results
