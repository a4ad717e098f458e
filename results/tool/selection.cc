#include "results/tool/selection.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>

#include "models/base/errors.h"
#include "results/store/record_files.h"

namespace bench::results {
namespace {

std::vector<StoredRun> runs_of(const std::string& selector) {
  if (!std::filesystem::exists(selector)) {
    throw DataError(cat(selector, ": no such file"));
  }
  return read_runs(selector);
}

}  // namespace

std::vector<StoredRun> select_runs(const Arguments& arguments,
                                   std::span<const std::string> selectors) {
  (void)arguments;
  std::vector<StoredRun> runs;
  std::set<std::string> seen;
  for (const std::string& selector : selectors) {
    for (StoredRun& run : runs_of(selector)) {
      if (seen.insert(run.record_id).second) {
        runs.push_back(std::move(run));
      }
    }
  }
  std::stable_sort(runs.begin(), runs.end(),
                   [](const StoredRun& a, const StoredRun& b) { return a.start_ms < b.start_ms; });
  return runs;
}

std::vector<StoredRun> select_runs(const Arguments& arguments, const std::string& selector) {
  return select_runs(arguments, std::span(&selector, 1));
}

}  // namespace bench::results
