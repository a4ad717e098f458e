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
  std::filesystem::path path{};  ///< As messages name it; some formats look at its neighbours.
  std::string text{};
};

/// A file to write: its name, which may hold folders, and what is in it.
struct Output {
  std::string name{};
  std::string contents{};
  bool append = false;  ///< The format's own tool adds to such a file.
};

using Records = std::vector<nlohmann::json>;
using Outputs = std::vector<Output>;

/// One row: a form in which other tools keep results. What a format does not do is null.
struct Format {
  const char* name = "";
  const char* what = "";  ///< One phrase for the list of formats.
  /// Whether `source` has this form, by what it begins with; decides nothing about its being whole.
  bool (*sniff)(const ForeignFile& source) = nullptr;
  /// The runs in it, as records of schema bench.record/1 with their record_id; what the file does
  /// not tell is null with a reason. Throws DataError: one sentence with the place.
  Records (*read)(const ForeignFile& source) = nullptr;
  /// The runs in this form. Throws UsageError where they do not fit into it.
  Outputs (*write)(std::span<const StoredRun> runs) = nullptr;
};

/// All of them, in the order in which files are tried.
std::span<const Format> formats();

/// Throws UsageError naming those that can be written when `name` is none of them.
const Format& format_to_write(std::string_view name);

/// The runs in the file at `path`, or in the folder of TensorFlow's logs there, by whichever format
/// it has. Throws DataError where the file cannot be read or is of none.
Records read_foreign(const std::filesystem::path& path);

/// The runs at `path`, whoever wrote them: of our own records read_runs(), of other tools' files
/// read_foreign(). Throws DataError.
std::vector<StoredRun> runs_in(const std::filesystem::path& path);

/// The files of which each holds runs of ours or of another tool: `path`, or what is in the folder
/// there. Throws DataError.
std::vector<std::filesystem::path> files_with_runs(const std::filesystem::path& path);

/// Writes `outputs` below `folder`, which is made where it is missing. Throws WriteError.
void write_outputs(const Outputs& outputs, const std::filesystem::path& folder);

}  // namespace bench::results
