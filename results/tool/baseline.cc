#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <ostream>
#include <set>

#include "models/base/errors.h"
#include "results/record/identity.h"
#include "results/tool/commands.h"
#include "results/tool/selection.h"
#include "results/tool/table.h"

namespace bench::results {
namespace {

/// A median of fewer runs is unreliable.
constexpr std::size_t kFewest = 5;

constexpr std::array kBaselineOptions = {
    kStoreOption,
    Option{.name = "note", .value = "TEXT", .meaning = "why these runs"},
    Option{.name = "format",
           .value = "FORM",
           .fallback = "text",
           .accepted = kTableForms,
           .meaning = "how to print the list"},
};

/// Every workload on every machine of the baseline needs enough runs.
void check_runs(const std::vector<StoredRun>& runs) {
  std::map<std::string, std::pair<std::string, std::size_t>> counts;
  for (const StoredRun& run : runs) {
    if (run.status != "ok") {
      throw DataError(cat("run ", run.record_id, " is ", run.status,
                          "; a baseline takes runs that are ok (status:ok)"));
    }
    auto& [name, count] = counts[run.workload_key + run.machine_key];
    name = cat(run.workload, " on ", run.machine);
    ++count;
  }
  for (const auto& [key, counted] : counts) {
    if (counted.second < kFewest) {
      throw DataError(
          cat("a baseline needs ", kFewest, " runs or more of the same work, and there ",
              counted.second == 1 ? "is " : "are ", counted.second, " of ", counted.first));
    }
  }
}

int set_baseline(const Arguments& arguments, Streams streams) {
  const std::vector<std::string>& words = arguments.operands();
  if (words.size() < 3) {
    throw UsageError("baseline set: write a name and which runs, such as set v1 'label:v1'");
  }
  const std::string& name = words[1];
  if (name.find_first_of(" @:/") != std::string::npos) {
    throw UsageError(cat("'", name, "': a baseline's name has no space, @, : or /"));
  }
  const std::span<const std::string> selectors = std::span(words).subspan(2);
  const std::vector<StoredRun> runs =
      select_runs(arguments, selectors, streams.err, Detail::kSummaries);
  check_runs(runs);
  Baseline baseline{.name = name, .created_ms = now_ms(), .note = arguments.text("note")};
  for (const std::string& selector : selectors) {
    baseline.selector += cat(baseline.selector.empty() ? "" : " ", selector);
  }
  for (const StoredRun& run : runs) baseline.run_ids.push_back(run.record_id);
  Store store = open_store(arguments, Store::Access::kWrite);
  const std::size_t stored = store.summaries(filter_of_ids(baseline.run_ids)).size();
  if (stored != runs.size()) {
    throw DataError(cat(runs.size() - stored,
                        " of these runs are in files alone; put them into the "
                        "store first: bench_results store FILE..."));
  }
  store.set_baseline(baseline);
  streams.out << "@" << name << ": " << runs.size() << " runs\n";
  return 0;
}

int list_baselines(const Arguments& arguments, Streams streams) {
  Table table{.columns = {"name", "runs", "created", "selector", "note"}};
  for (const Baseline& baseline : open_store(arguments, Store::Access::kRead).baselines()) {
    const std::chrono::milliseconds created(baseline.created_ms);
    table.rows.push_back({baseline.name, static_cast<std::int64_t>(baseline.run_ids.size()),
                          utc_text(std::chrono::system_clock::time_point(created)),
                          baseline.selector, baseline.note});
  }
  print_table(streams.out, table, arguments.text("format"));
  return 0;
}

int remove_baselines(const Arguments& arguments) {
  Store store = open_store(arguments, Store::Access::kWrite);
  for (const std::string& name : std::span(arguments.operands()).subspan(1)) {
    if (!store.remove_baseline(name.starts_with('@') ? name.substr(1) : name)) {
      throw UsageError(cat("'", name,
                           "': no baseline is called so; bench_results baseline list "
                           "shows them"));
    }
  }
  return 0;
}

}  // namespace

std::span<const Option> options_of_baseline() { return kBaselineOptions; }

int run_baseline(const Arguments& arguments, Streams streams) {
  const std::vector<std::string>& words = arguments.operands();
  const std::string verb = words.empty() ? "list" : words[0];
  if (verb == "set") return set_baseline(arguments, streams);
  if (verb == "list") return list_baselines(arguments, streams);
  if (verb == "rm" && words.size() > 1) return remove_baselines(arguments);
  throw UsageError(cat("baseline ", verb, verb == "rm" ? ": names none" : ": unknown",
                       "; write set NAME SELECTOR..., list, or rm NAME..."));
}

}  // namespace bench::results
