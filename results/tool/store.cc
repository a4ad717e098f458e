#include <array>
#include <exception>
#include <ostream>

#include "models/base/errors.h"
#include "models/base/text.h"
#include "results/formats/format.h"
#include "results/tool/commands.h"
#include "results/tool/selection.h"

namespace bench::results {
namespace {

constexpr std::array kStoreOptions = {
    kStoreOption,
    Option{.name = "reindex", .meaning = "rebuild the database of a folder of records"},
};

/// Number of runs that are stored together; a kill loses at most these.
constexpr std::size_t kTogether = 100;

/// The exit status of main() for records that cannot be used.
constexpr int kSomeRefused = 3;

struct Tally {
  std::size_t added = 0;
  std::size_t known = 0;
  std::size_t refused = 0;
};

void put(Store& store, std::vector<StoredRun>& runs, Tally& tally) {
  const std::size_t added = store.add(runs);
  tally.added += added;
  tally.known += runs.size() - added;
  runs.clear();
}

/// The files of all operands; prints a note for a folder without any.
std::vector<std::filesystem::path> files_to_store(const Arguments& arguments, Streams streams,
                                                  Tally& tally) {
  std::vector<std::filesystem::path> files;
  for (const std::string& operand : arguments.operands()) {
    const std::vector<std::filesystem::path> found = files_with_runs(operand);
    if (found.empty()) {
      streams.err << fmt::format("bench_results: {}: no records found\n", printable(operand));
      ++tally.refused;
    }
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

std::string runs_text(std::size_t count) {
  return count == 1 ? "1 run" : fmt::format("{} runs", count);
}

}  // namespace

std::span<const Option> options_of_store() { return kStoreOptions; }

int run_store(const Arguments& arguments, Streams streams) {
  const std::filesystem::path path = store_path(arguments);
  if (arguments.has("reindex")) {
    streams.out << path.string() << ": "
                << runs_text(static_cast<std::size_t>(reindex(path, slow_note(streams.err))))
                << " indexed\n";
  } else if (arguments.operands().empty()) {
    throw UsageError("store: no files were given; give files of records, or folders of them");
  }
  Tally tally;
  const std::vector<std::filesystem::path> files = files_to_store(arguments, streams, tally);
  if (files.empty() && !arguments.operands().empty()) {
    return kSomeRefused;  // Does not create a store.
  }
  Store store(path, Store::Access::kWrite, slow_note(streams.err));
  print_warnings(store, streams.err);
  tally.refused += store.warnings().size();
  std::vector<StoredRun> runs;
  for (const std::filesystem::path& file : files) {
    try {
      for (StoredRun& run : runs_in(file)) runs.push_back(std::move(run));
    } catch (const DataError& error) {
      // The other runs are still stored.
      streams.err << fmt::format("bench_results: not stored: {}\n", printable(error.what()));
      ++tally.refused;
    }
    if (runs.size() >= kTogether) put(store, runs, tally);
  }
  put(store, runs, tally);
  if (!arguments.operands().empty()) {
    streams.out << path.string() << ": " << runs_text(tally.added) << " stored";
    if (tally.known > 0) streams.out << ", " << tally.known << " already stored";
    if (tally.refused > 0) streams.out << ", " << tally.refused << " refused";
    streams.out << "\n";
  }
  return tally.refused > 0 ? kSomeRefused : 0;
}

}  // namespace bench::results
