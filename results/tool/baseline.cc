#include <array>
#include <chrono>
#include <map>
#include <ostream>

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
    Option{.name = "note", .value = "TEXT", .meaning = "reason for choosing these runs"},
    Option{.name = "format",
           .value = "FORM",
           .fallback = "text",
           .accepted = kTableForms,
           .meaning = "output format of list"},
};

/// Every workload on every machine of the baseline needs enough runs.
void check_runs(const std::vector<StoredRun>& runs) {
  std::map<std::string, std::pair<std::string, std::size_t>> counts;
  for (const StoredRun& run : runs) {
    if (run.status != "ok") {
      throw DataError(fmt::format(
          "run {} has status {}; a baseline accepts only runs with status ok (filter status:ok)",
          run.record_id, run.status));
    }
    auto& [name, count] = counts[run.workload_key + run.machine_key];
    name = fmt::format("{} on {}", run.workload, run.machine);
    ++count;
  }
  for (const auto& [key, counted] : counts) {
    if (counted.second < kFewest) {
      throw DataError(fmt::format(
          "a baseline needs at least {} runs of each workload on each machine; runs of {}: {}",
          kFewest, counted.first, counted.second));
    }
  }
}

int set_baseline(const Arguments& arguments, Streams streams) {
  const std::vector<std::string>& words = arguments.operands();
  if (words.size() < 3) {
    throw UsageError(
        "baseline set: give a name and a SELECTOR, such as: baseline set v1 'label:v1'");
  }
  const std::string& name = words[1];
  if (name.find_first_of(" @:/") != std::string::npos) {
    throw UsageError(
        fmt::format("'{}': the name of a baseline must not contain a space, @, : or /", name));
  }
  const std::span<const std::string> selectors = std::span(words).subspan(2);
  const std::vector<StoredRun> runs =
      select_runs(arguments, selectors, streams.err, Detail::kSummaries);
  check_runs(runs);
  Baseline baseline{.name = name, .created_ms = now_ms(), .note = arguments.text("note")};
  for (const std::string& selector : selectors) {
    if (!baseline.selector.empty()) baseline.selector += " ";
    baseline.selector += selector;
  }
  for (const StoredRun& run : runs) baseline.run_ids.push_back(run.record_id);
  Store store = open_store(arguments, Store::Access::kWrite);
  const std::size_t stored = store.summaries(filter_of_ids(baseline.run_ids)).size();
  if (stored != runs.size()) {
    throw DataError(
        fmt::format("{} of {} runs are only in files, not in the store; store them first with "
                    "bench_results store FILE...",
                    runs.size() - stored, runs.size()));
  }
  store.set_baseline(baseline);
  streams.out << fmt::format("@{}: {} runs\n", name, runs.size());
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
      throw UsageError(
          fmt::format("'{}': no such baseline; bench_results baseline list shows all", name));
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
  if (verb == "rm") throw UsageError("baseline rm: give at least one name: baseline rm NAME...");
  throw UsageError(fmt::format(
      "baseline {}: unknown action; accepted: set NAME SELECTOR..., list, or rm NAME...", verb));
}

}  // namespace bench::results
