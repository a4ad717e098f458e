#include <fmt/format.h>

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <ostream>
#include <sstream>

#include "models/base/atomic_file.h"
#include "models/base/errors.h"
#include "results/store/disturbance.h"
#include "results/store/record_fields.h"
#include "results/store/workload_names.h"
#include "results/tool/commands.h"
#include "results/tool/selection.h"
#include "results/track/forms.h"
#include "results/track/rerun.h"
#include "results/track/series.h"
#include "results/track/tracking.h"

namespace bench::results {
namespace {

constexpr std::array kTrackOptions = {
    Option{.name = "metric",
           .value = "NAME,...",
           .repeatable = true,
           .meaning = "track these metrics; unset: the speed"},
    Option{
        .name = "min-effect",
        .value = "SHARE",
        .fallback = "1%",
        .meaning =
            "smallest change that matters, such as 2% or 0.02; if the noise of a series is larger, "
            "it is used instead"},
    Option{.name = "alpha", .value = "P", .fallback = "0.05", .meaning = "significance level"},
    Option{.name = "since",
           .value = "TIME",
           .meaning = "ignore changes before this time: 2026-01-31, or 30d"},
    Option{.name = "points",
           .value = "EACH",
           .fallback = "run",
           .accepted = "run day",
           .meaning = "a point of a series is a run (or a group of repeats), or all runs of one "
                      "revision on one day (UTC)"},
    Option{.name = "fast", .meaning = "accept levels of 3 runs instead of 5"},
    Option{.name = "trust-disturbed", .meaning = "judge disturbed runs like undisturbed ones"},
    Option{.name = "canary",
           .value = "LABEL",
           .fallback = "canary",
           .meaning =
               "label of runs of a frozen program; their changes are attributed to the machine"},
    Option{.name = "ack",
           .value = "ID",
           .repeatable = true,
           .meaning = "acknowledge a change: set its state to that of --as"},
    Option{
        .name = "as",
        .value = "STATE",
        .fallback = "ack",
        .accepted = "ack fixed env noise new",
        .meaning = "with --ack, the new state: accepted, fixed, environment, noise, or reopened"},
    Option{.name = "annotate", .value = "RUN", .meaning = "attach the text of --note to a run"},
    Option{.name = "note", .value = "TEXT", .meaning = "with --ack or --annotate: the text"},
    Option{.name = "remember",
           .meaning = "store new changes, so that they are reported as new only once"},
    Option{.name = "on-change",
           .value = "COMMAND",
           .meaning = "command to run if there are new regressions or improvements; it receives "
                      "them as JSON on stdin"},
    Option{
        .name = "rerun-cmd",
        .value = "COMMAND",
        .meaning = "command that repeats a suspect run; {rev} is the revision, {flags} its flags"},
    Option{.name = "reruns",
           .letter = 'n',
           .value = "N",
           .fallback = "8",
           .meaning = "with --rerun-cmd: number of runs of each revision"},
    Option{.name = "keep",
           .value = "FOLDER",
           .fallback = "reruns",
           .meaning = "with --rerun-cmd: folder for the records"},
    Option{.name = "all", .meaning = "also print series without changes"},
    Option{.name = "write",
           .value = "FILE",
           .repeatable = true,
           .meaning = "also write the report to a file; its ending chooses the format: .txt .md "
                      ".html .json .xml"},
    Option{.name = "format",
           .value = "FORM",
           .fallback = "text",
           .accepted = "text md html json junit",
           .meaning = "output format"},
    kStoreOption,
};

/// Records of a series' runs, read on demand for a few of them.
class SeriesRecords {
 public:
  SeriesRecords(const Arguments& arguments, std::span<const StoredRun> runs)
      : arguments_(arguments) {
    for (const StoredRun& run : runs) {
      if (!run.record.is_null()) given_[run.record_id] = &run;
    }
  }

  StoredRun run(const std::string& id) {
    const auto given = given_.find(id);
    if (given != given_.end()) return *given->second;
    // Opening a folder lists all of its files.
    if (!store_) store_.emplace(open_store(arguments_, Store::Access::kRead));
    const std::vector<std::string> ids = {id};
    std::vector<StoredRun> found = store_->load(filter_of_ids(ids));
    check(!found.empty(), "a tracked run is missing from the store");
    return std::move(found.front());
  }

  /// What disturbed the run.
  const std::vector<std::string>& disturbances(const std::string& id) {
    const auto known = disturbances_.find(id);
    if (known != disturbances_.end()) return known->second;
    return disturbances_[id] = disturbances_of(run(id).record);
  }

 private:
  const Arguments& arguments_;
  std::map<std::string, const StoredRun*> given_{};
  std::optional<Store> store_{};
  std::map<std::string, std::vector<std::string>> disturbances_{};
};

/// Gives workloads with equal texts distinct names, which needs a record of each.
void name_workloads(std::vector<RunSeries>& series, SeriesRecords& records) {
  std::map<std::string, std::map<std::string, std::string>> runs;  // By text, then by workload.
  for (const RunSeries& one : series) {
    runs[one.workload].emplace(one.workload_key, one.points.front().run_ids.front());
  }
  std::map<std::string, std::string> names;
  for (const auto& [text, workloads] : runs) {
    if (workloads.size() == 1) continue;
    std::vector<NamedWorkload> named;
    for (const auto& [key, run] : workloads) {
      named.push_back({.text = text, .fields = workload_fields(records.run(run).record)});
    }
    std::vector<std::string> distinct = distinct_names(named);
    std::size_t i = 0;
    for (const auto& [key, run] : workloads) names[key] = std::move(distinct[i++]);
  }
  for (RunSeries& one : series) {
    const auto name = names.find(one.workload_key);
    if (name != names.end()) one.workload = name->second;
  }
}

/// Adds the differences of the environment across each change, except the revision, which is
/// reported separately, and the program built from it.
void add_differences(Tracked& tracked, SeriesRecords& records) {
  for (TrackedSeries& one : tracked.series) {
    for (SeriesChange& change : one.changes) {
      const StoredRun before = records.run(one.series.points[change.last_good].run_ids.front());
      const StoredRun after = records.run(one.series.points[change.at].run_ids.front());
      const std::array<const StoredRun*, 1> base = {&before};
      const std::array<const StoredRun*, 1> other = {&after};
      change.environment = environment_differences(base, other);
      std::erase_if(change.environment, [](const EnvironmentDifference& difference) {
        return difference.field.starts_with("source.") || difference.field == "build.exe_sha256";
      });
    }
  }
}

TrackOptions track_options(const Arguments& arguments) {
  TrackOptions options;
  options.margin = arguments.share("min-effect");
  options.alpha = arguments.share("alpha");
  if (options.alpha <= 0 || options.alpha >= 0.5) {
    throw UsageError(
        fmt::format("--alpha={}: must be above 0 and below 0.5", arguments.text("alpha")));
  }
  options.least_segment = arguments.has("fast") ? 3 : 5;
  options.trust_disturbed = arguments.has("trust-disturbed");
  if (const auto since = arguments.given("since")) options.since_ms = parse_time(*since, now_ms());
  return options;
}

/// The store's notes; empty if the runs come from files and the store does not exist.
struct Notes {
  std::vector<ChangeNote> changes{};
  std::vector<Annotation> annotations{};
};

Notes read_notes(const Arguments& arguments) {
  if (!arguments.has("store") && !std::filesystem::exists(store_path(arguments))) return {};
  const Store store = open_store(arguments, Store::Access::kRead);
  return {.changes = store.changes(), .annotations = store.annotations()};
}

std::string user_name() {
  const char* name = std::getenv("USER");
  return name == nullptr ? "" : name;
}

ChangeNote note_of(const TrackedSeries& one, const SeriesChange& change, const std::string& state,
                   const std::string& text) {
  ChangeNote note{.series_key = one.series.key,
                  .at_run = one.series.points[change.at].run_ids.front(),
                  .p = change.p,
                  .effect = stats::relative_change(change.shift.estimate),
                  .state = state,
                  .note = text,
                  .by = user_name()};
  if (change.shift.interval) {
    const stats::Interval ends = stats::relative_change(*change.shift.interval);
    note.lo = ends.low;
    note.hi = ends.high;
  }
  return note;
}

/// Sets the state of the changes with these ids.
void acknowledge(const Arguments& arguments, Tracked& tracked, Streams streams) {
  const std::vector<std::string> ids = arguments.all("ack");
  if (ids.empty()) return;
  Store store = open_store(arguments, Store::Access::kWrite);
  for (const std::string& id : ids) {
    bool found = false;
    for (TrackedSeries& one : tracked.series) {
      for (SeriesChange& change : one.changes) {
        if (id.size() < 4 || !change.id.starts_with(id)) continue;
        found = true;
        change.state = arguments.text("as");
        change.note = arguments.text("note");
        change.known = true;
        const ChangeNote note = note_of(one, change, change.state, change.note);
        store.set_change(note);
        // Removes earlier notes, at runs where the change seemed to begin then.
        for (const std::string& run : change.noted_at) {
          if (run != note.at_run) store.remove_change(note.series_key, run);
        }
        streams.err << fmt::format("{}: change {} has state {} now\n", title_of(one.series),
                                   change.id, change.state);
      }
    }
    if (!found) {
      throw UsageError(
          fmt::format("--ack={}: no change has an id with this prefix of at least 4 characters; "
                      "track without --ack lists all",
                      id));
    }
  }
}

void annotate(const Arguments& arguments, Tracked& tracked) {
  const auto run = arguments.given("annotate");
  if (!run) return;
  const std::string text = arguments.text("note");
  if (text.empty()) throw UsageError(fmt::format("--annotate={}: requires --note=TEXT", *run));
  Store store = open_store(arguments, Store::Access::kWrite);
  bool found = false;
  for (TrackedSeries& one : tracked.series) {
    for (const SeriesPoint& point : one.series.points) {
      for (const std::string& id : point.run_ids) {
        if (run->size() < 4 || !id.starts_with(*run)) continue;
        found = true;
        one.annotations.push_back({.series_key = one.series.key, .run = id, .text = text});
        store.annotate(one.annotations.back());
      }
    }
  }
  if (!found) {
    throw UsageError(fmt::format(
        "--annotate={}: no tracked run has an id with this prefix of at least 4 characters", *run));
  }
}

bool has_news(const Tracked& tracked) {
  return std::any_of(tracked.series.begin(), tracked.series.end(), [](const TrackedSeries& one) {
    return std::any_of(one.changes.begin(), one.changes.end(), is_news);
  });
}

/// Runs the command of --on-change if there is news. Throws WriteError if it fails.
void notify(const Arguments& arguments, const Tracked& tracked, Streams streams) {
  const auto command = arguments.given("on-change");
  if (!command || !has_news(tracked)) return;
  const std::string text =
      changes_json(tracked).dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
      "\n";
  streams.out.flush();
  // Only the report belongs on stdout.
  std::FILE* pipe = ::popen(fmt::format("exec >&2; {}", *command).c_str(), "w");
  if (pipe == nullptr) {
    throw WriteError(fmt::format("--on-change={}: cannot start a shell", *command));
  }
  // A command may end without reading everything.
  (void)std::fwrite(text.data(), 1, text.size(), pipe);
  const int status = ::pclose(pipe);
  if (status != 0) {
    throw WriteError(fmt::format("--on-change={}: the command ended with {}", *command,
                                 WIFSIGNALED(status)
                                     ? fmt::format("signal {}", WTERMSIG(status))
                                     : fmt::format("exit status {}", WEXITSTATUS(status))));
  }
}

void remember(const Arguments& arguments, const Tracked& tracked) {
  if (!arguments.has("remember")) return;
  Store store = open_store(arguments, Store::Access::kWrite);
  for (const TrackedSeries& one : tracked.series) {
    for (const SeriesChange& change : one.changes) {
      if (is_news(change)) store.set_change(note_of(one, change, "new", ""));
    }
  }
}

void print_tracked(const Arguments& arguments, const Tracked& tracked, const std::string& format,
                   std::ostream& out) {
  if (format == "md") {
    print_markdown(out, tracked);
  } else if (format == "html") {
    print_html(out, tracked);
  } else if (format == "json") {
    print_json(out, tracked);
  } else if (format == "junit") {
    print_junit(out, tracked);
  } else {
    print_text(out, tracked, arguments.has("all"));
  }
}

/// The form for a file's name.
std::string form_of(const std::filesystem::path& file) {
  const std::map<std::string, std::string> forms = {
      {".txt", "text"}, {".md", "md"}, {".html", "html"}, {".json", "json"}, {".xml", "junit"}};
  const auto found = forms.find(file.extension().string());
  if (found == forms.end()) {
    throw UsageError(fmt::format("--write={}: the name must end in .txt, .md, .html, .json or .xml",
                                 file.string()));
  }
  return found->second;
}

void write_files(const Arguments& arguments, const Tracked& tracked) {
  for (const std::string& name : arguments.all("write")) {
    std::ostringstream text;
    print_tracked(arguments, tracked, form_of(name), text);
    AtomicFile(name, "report").write(text.str());
  }
}

}  // namespace

std::span<const Option> options_of_track() { return kTrackOptions; }

int run_track(const Arguments& arguments, Streams streams) {
  constexpr int kSignalled = 128;
  std::vector<std::string> selectors = arguments.operands();
  if (selectors.empty()) selectors.emplace_back();
  SeriesSelection selection;
  if (arguments.has("metric")) selection.metrics = arguments.names("metric");
  selection.canary = arguments.text("canary");
  if (arguments.text("points") == "day") selection.point = PointOf::kDay;
  const TrackOptions options = track_options(arguments);
  for (const std::string& name : arguments.all("write")) (void)form_of(name);
  const std::vector<StoredRun> runs =
      select_runs(arguments, selectors, streams.err, Detail::kSummaries);
  std::vector<RunSeries> series = series_of(runs, selection);
  if (series.empty()) {
    throw DataError(fmt::format("no run with status ok has the metric {}",
                                fmt::join(selection.metrics, " or ")));
  }
  SeriesRecords records(arguments, runs);
  name_workloads(series, records);
  const Notes notes = read_notes(arguments);
  DisturbancesOfRun disturbances;
  if (!options.trust_disturbed) {
    disturbances = [&](const std::string& id) { return records.disturbances(id); };
  }
  Tracked tracked = track(series, options, notes.changes, notes.annotations, disturbances);
  for (const std::string& why : tracked.left_out) {
    streams.err << fmt::format("bench_results: warning: skipped {}\n", why);
  }
  int interrupted_by = 0;
  if (const auto command = arguments.given("rerun-cmd")) {
    interrupted_by = rerun_suspects(
        tracked,
        {.command = *command,
         .pairs = static_cast<std::size_t>(arguments.integer("reruns", 1)),
         .folder = arguments.text("keep")},
        [&](const std::string& id) { return records.run(id).record; }, streams.err);
  }
  add_differences(tracked, records);
  acknowledge(arguments, tracked, streams);
  annotate(arguments, tracked);
  print_tracked(arguments, tracked, arguments.text("format"), streams.out);
  write_files(arguments, tracked);
  // If the command fails, the changes stay new and the next call reports them again.
  notify(arguments, tracked, streams);
  remember(arguments, tracked);
  return interrupted_by != 0 ? kSignalled + interrupted_by : exit_status(tracked);
}

}  // namespace bench::results
