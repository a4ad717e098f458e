#include "results/tool/selection.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "models/base/errors.h"
#include "models/base/near_names.h"
#include "models/base/text.h"
#include "results/formats/format.h"

namespace bench::results {
namespace {

constexpr std::size_t kShortestId = 4;

bool looks_like_an_id(const std::string& selector) {
  return selector.size() >= kShortestId &&
         selector.find_first_not_of("0123456789abcdef-") == std::string::npos;
}

/// Runs and groups whose ids begin with `id`.
Filter filter_of_id(const std::string& id) {
  const std::vector<std::string> ids{id};
  Filter filter = filter_of_ids(ids);
  filter.where = fmt::format("({} OR substr(group_id, 1, ?) = ?)", filter.where);
  filter.values.emplace_back(static_cast<std::int64_t>(id.size()));
  filter.values.emplace_back(id);
  return filter;
}

/// True for a mark that bench puts into the file names of several runs: repeat0, batch64.
bool is_mark(const std::string& text) {
  const std::size_t letters = text.find_first_of("0123456789");
  return letters > 0 && letters != std::string::npos &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == letters &&
         text.find_first_not_of("0123456789", letters) == std::string::npos;
}

/// The files whose paths differ from `path` only by a mark: run.repeat0.json for run.json.
std::vector<std::string> marked_files(const std::filesystem::path& path) {
  const std::string begin = path.stem().string() + ".";
  const std::string end = path.extension().string();
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::vector<std::string> files;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.size() > begin.size() + end.size() && name.starts_with(begin) && name.ends_with(end) &&
        is_mark(name.substr(begin.size(), name.size() - begin.size() - end.size()))) {
      files.push_back((path.parent_path() / name).string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// The message for a missing file. It names the files that bench wrote instead, if there are any.
std::string no_such_file(const std::string& path) {
  const std::vector<std::string> files = marked_files(path);
  if (files.empty()) return fmt::format("{}: no such file", path);
  const std::string more = files.size() == 1 ? "" : fmt::format(" and {} more", files.size() - 1);
  return fmt::format(
      "{}: no such file; found {}{}, because bench writes one file per run. To select them all, "
      "move them to a folder and type its name",
      path, files.front(), more);
}

class Selector {
 public:
  Selector(const Arguments& arguments, std::ostream& notes, Detail detail)
      : arguments_(arguments), notes_(notes), detail_(detail) {}

  std::vector<StoredRun> runs_of(const std::string& selector) {
    if (selector.starts_with('@')) {
      return runs_of_baseline(selector.substr(1));
    }
    // A long filter is not a path, and asking for it fails.
    std::error_code not_a_path;
    if (!selector.empty() && std::filesystem::exists(selector, not_a_path)) {
      return needed(is_store_file(selector) ? Store(selector, Store::Access::kRead).load({})
                                            : runs_in(selector),
                    fmt::format("{}: no records found", selector));
    }
    if (looks_like_an_id(selector)) {
      auto runs = needed(
          from_store(filter_of_id(selector)),
          fmt::format("{}: no run or group in the store has an id with this prefix", selector));
      check_one_is_meant(runs, selector);
      return runs;
    }
    if (selector.empty() || selector.find(':') != std::string::npos) {
      auto runs = needed(from_store(parse_filter(selector, now_ms())), no_match(selector));
      filters_.emplace_back(selector, runs.size());
      return runs;
    }
    if (selector.find('/') != std::string::npos || selector.ends_with(".json")) {
      throw DataError(no_such_file(selector));
    }
    throw UsageError(fmt::format(
        "'{0}' matches no runs (not a file or record id); write @{0} for a baseline, "
        "or key:value such as label:{0} for a filter; an id needs at least 4 characters",
        selector));
  }

  /// Notes that the runs of several filters were added, `count` in all.
  void tell_union(std::size_t count) const {
    if (filters_.size() < 2) return;
    std::string each;
    std::string joined;
    for (const auto& [filter, runs] : filters_) {
      if (!each.empty()) each += ", ";
      each += fmt::format("'{}' matches {}", filter, runs);
      if (!joined.empty() && !filter.empty()) joined += " ";
      joined += filter;
    }
    notes_ << "bench_results: note: "
           << printable(fmt::format("selected {} runs that match any filter: {}. To select "
                                    "only runs that match all filters, write one SELECTOR: '{}'",
                                    count, each, joined))
           << "\n";
  }

 private:
  /// Throws UsageError if several runs or groups begin with the given id.
  static void check_one_is_meant(const std::vector<StoredRun>& runs, const std::string& selector) {
    std::set<std::string> meant;
    for (const StoredRun& run : runs) {
      meant.insert(run.group_id.starts_with(selector) ? run.group_id : run.record_id);
    }
    if (meant.size() < 2) return;
    std::string names;
    for (const std::string& name : meant) {
      if (!names.empty()) names += ", ";
      names += name;
    }
    throw UsageError(fmt::format(
        "{}: {} runs or groups have ids with this prefix; write a longer prefix of one: {}",
        selector, meant.size(), names));
  }

  static std::string no_match(const std::string& filter) {
    return filter.empty() ? "the store has no runs" : fmt::format("no runs match '{}'", filter);
  }

  /// `runs`; throws DataError with `message` if empty.
  static std::vector<StoredRun> needed(std::vector<StoredRun> runs, const std::string& message) {
    if (runs.empty()) throw DataError(message);
    return runs;
  }

  Store& store() {
    if (!store_) {
      store_.emplace(open_store(arguments_, Store::Access::kRead, &notes_));
      print_warnings(*store_, notes_);
    }
    return *store_;
  }

  std::vector<StoredRun> from_store(const Filter& filter) {
    return detail_ == Detail::kRecords ? store().load(filter) : store().summaries(filter);
  }

  std::vector<StoredRun> runs_of_baseline(const std::string& name) {
    const std::vector<Baseline> baselines = store().baselines();
    std::vector<std::string_view> names;
    for (const Baseline& baseline : baselines) {
      if (baseline.name == name) {
        return needed(
            from_store(filter_of_ids(baseline.run_ids)),
            fmt::format("@{}: the runs of this baseline are no longer in the store", name));
      }
      names.push_back(baseline.name);
    }
    throw UsageError(
        fmt::format("@{}: no such baseline{}", name, did_you_mean(near_names(name, names), "@")));
  }

  const Arguments& arguments_;
  std::ostream& notes_;
  Detail detail_;
  std::optional<Store> store_;
  /// Selectors that are filters, and the number of runs that each found.
  std::vector<std::pair<std::string, std::size_t>> filters_{};
};

/// Oldest first.
std::vector<StoredRun> in_order(std::vector<StoredRun> runs) {
  std::stable_sort(runs.begin(), runs.end(),
                   [](const StoredRun& a, const StoredRun& b) { return a.start_ms < b.start_ms; });
  return runs;
}

}  // namespace

std::filesystem::path store_path(const Arguments& arguments) {
  const std::string given = arguments.text("store");
  return given.empty() ? default_store_path() : std::filesystem::path(given);
}

Store open_store(const Arguments& arguments, Store::Access access, std::ostream* notes) {
  return {store_path(arguments), access, notes == nullptr ? nullptr : slow_note(*notes)};
}

TellSlow slow_note(std::ostream& notes) {
  return [&notes](const std::string& what) {
    notes << fmt::format("bench_results: note: {}\n", what) << std::flush;
  };
}

void print_warnings(const Store& store, std::ostream& notes) {
  for (const std::string& warning : store.warnings()) {
    notes << fmt::format("bench_results: warning: skipped {}\n", printable(warning));
  }
}

namespace {

/// The first of the runs with the same record, as in a folder with --store and --result_file.
std::vector<StoredRun> without_copies(std::vector<StoredRun> runs) {
  std::set<std::string> seen;
  std::erase_if(runs, [&](const StoredRun& run) { return !seen.insert(run.record_id).second; });
  return runs;
}

}  // namespace

std::vector<StoredRun> select_runs(const Arguments& arguments,
                                   std::span<const std::string> selectors, std::ostream& notes,
                                   Detail detail) {
  Selector select(arguments, notes, detail);
  std::vector<StoredRun> runs;
  for (const std::string& selector : selectors) {
    std::ranges::move(select.runs_of(selector), std::back_inserter(runs));
  }
  runs = without_copies(std::move(runs));
  select.tell_union(runs.size());
  return in_order(std::move(runs));
}

std::vector<std::vector<StoredRun>> select_each(const Arguments& arguments,
                                                std::span<const std::string> selectors,
                                                std::ostream& notes) {
  Selector select(arguments, notes, Detail::kRecords);
  std::vector<std::vector<StoredRun>> sides;
  for (const std::string& selector : selectors) {
    sides.push_back(in_order(without_copies(select.runs_of(selector))));
  }
  return sides;
}

std::int64_t now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

}  // namespace bench::results
