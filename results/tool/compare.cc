#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <iomanip>
#include <ostream>
#include <set>
#include <sstream>
#include <utility>

#include "models/base/errors.h"
#include "models/base/text.h"
#include "results/compare/comparison.h"
#include "results/compare/forms.h"
#include "results/compare/interleaved.h"
#include "results/compare/number_text.h"
#include "results/tool/commands.h"
#include "results/tool/selection.h"

namespace bench::results {
namespace {

constexpr std::array kCompareOptions = {
    Option{.name = "min-effect",
           .value = "SHARE",
           .fallback = "1%",
           .meaning = "smallest change that matters, such as 2% or 0.02"},
    Option{.name = "alpha", .value = "P", .fallback = "0.05", .meaning = "significance level"},
    Option{.name = "metric",
           .value = "NAME,...",
           .repeatable = true,
           .meaning = "compare these metrics, or 'all'; unset: the speed"},
    Option{.name = "ignore",
           .value = "FIELD,...",
           .repeatable = true,
           .meaning = "compare workloads even if they differ in these fields"},
    Option{
        .name = "by",
        .value = "FIELD,...",
        .repeatable = true,
        .meaning =
            "group rows by fields of the workload, such as model,dtype; each group has a geomean"},
    Option{.name = "fwer",
           .meaning = "correct for multiple tests by Holm instead of Benjamini-Hochberg"},
    Option{
        .name = "strict",
        .meaning =
            "exit with 4 if a row is inconclusive, disturbed or on other hardware, or a workload "
            "has no new run"},
    Option{.name = "trust-disturbed", .meaning = "judge disturbed runs like undisturbed ones"},
    Option{.name = "run", .meaning = "treat the two operands as commands, and run them in turn"},
    Option{.name = "pairs",
           .letter = 'n',
           .value = "N",
           .fallback = "8",
           .meaning = "with --run: number of runs of each command"},
    Option{.name = "cooldown",
           .value = "SECONDS",
           .fallback = "0",
           .meaning = "with --run: pause between runs, in seconds"},
    Option{.name = "keep",
           .value = "FOLDER",
           .meaning = "with --run: folder for records and outputs; unset: compare-<time>"},
    Option{.name = "format",
           .value = "FORM",
           .fallback = "text",
           .accepted = "text md html json junit",
           .meaning = "output format"},
    kStoreOption,
};

CompareOptions compare_options(const Arguments& arguments) {
  CompareOptions options;
  options.margin = arguments.share("min-effect");
  options.alpha = arguments.share("alpha");
  if (options.alpha <= 0 || options.alpha >= 0.5) {
    throw UsageError(
        fmt::format("--alpha={}: must be above 0 and below 0.5", arguments.text("alpha")));
  }
  options.family_wise = arguments.has("fwer");
  options.trust_disturbed = arguments.has("trust-disturbed");
  options.metrics = arguments.names("metric");
  options.ignored = arguments.names("ignore");
  options.by = arguments.names("by");
  return options;
}

void print_comparisons(std::ostream& out, const std::string& format,
                       std::span<const Comparison> comparisons) {
  if (format == "md") {
    print_markdown(out, comparisons);
  } else if (format == "html") {
    print_html(out, comparisons);
  } else if (format == "json") {
    print_json(out, comparisons);
  } else if (format == "junit") {
    print_junit(out, comparisons);
  } else {
    print_text(out, comparisons);
  }
}

/// Removes the runs that the base has too, and returns a note about them. Throws DataError if none
/// remain.
std::vector<std::string> remove_base(ComparedSide& side, const ComparedSide& base) {
  std::set<std::string> known;
  for (const StoredRun& run : base.runs) known.insert(run.record_id);
  const std::size_t removed =
      std::erase_if(side.runs, [&](const StoredRun& run) { return known.contains(run.record_id); });
  if (removed == 0) return {};
  if (side.runs.empty()) {
    throw DataError(
        fmt::format("{}: the base {} has all of these runs; select others", side.name, base.name));
  }
  return {fmt::format("{}: omitted {} that the base has too", side.name,
                      removed == 1 ? "1 run" : fmt::format("{} runs", removed))};
}

int compare_stored(const Arguments& arguments, Streams streams) {
  const std::vector<std::string>& selectors = arguments.operands();
  const CompareOptions options = compare_options(arguments);
  std::vector<ComparedSide> sides;
  std::vector<StoredRun> all;
  for (std::vector<StoredRun>& runs : select_each(arguments, selectors, streams.err)) {
    all.insert(all.end(), runs.begin(), runs.end());
    sides.push_back({.name = selectors[sides.size()], .runs = std::move(runs)});
  }
  if (sides.size() < 2) {
    throw UsageError(
        fmt::format("compare: needs at least two SELECTORs, but {} given; the first is the base",
                    sides.empty() ? "none was" : fmt::format("only '{}' was", sides.front().name)));
  }
  check_fields(all, options.ignored, "ignore");
  check_fields(all, options.by, "by");
  std::vector<Comparison> comparisons;
  for (std::size_t i = 1; i < sides.size(); ++i) {
    const std::vector<std::string> notes = remove_base(sides[i], sides.front());
    Comparison& added = comparisons.emplace_back(compare(sides.front(), sides[i], options));
    added.notes.insert(added.notes.begin(), notes.begin(), notes.end());
  }
  correct_rows(comparisons);
  print_comparisons(streams.out, arguments.text("format"), comparisons);
  return exit_status(comparisons, arguments.has("strict"));
}

std::filesystem::path folder_for_runs(const Arguments& arguments) {
  if (const auto given = arguments.given("keep")) return *given;
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  (void)gmtime_r(&now, &utc);
  std::ostringstream name;
  name << "compare-" << std::put_time(&utc, "%Y%m%dT%H%M%SZ");
  return name.str();
}

std::string rate_text(const StoredRun& run) {
  const auto rate = run.metrics.find(speed_metric(run));
  return rate == run.metrics.end() ? "done"
                                   : number_text(rate->second.value) + " " + rate->second.unit;
}

int compare_commands(const Arguments& arguments, Streams streams) {
  constexpr int kSignalled = 128;
  if (arguments.operands().size() != 2) {
    throw UsageError(
        fmt::format("compare: --run needs 2 commands, but {} were given; quote each command",
                    arguments.operands().size()));
  }
  CompareOptions options = compare_options(arguments);
  options.paired = true;
  const double cooldown = arguments.number("cooldown", 0, 86400);
  InterleavedPlan plan{.base = arguments.operands()[0],
                       .other = arguments.operands()[1],
                       .pairs = static_cast<std::size_t>(arguments.integer("pairs", 1)),
                       .cooldown = std::chrono::milliseconds(std::llround(1000 * cooldown)),
                       .folder = folder_for_runs(arguments)};
  streams.err << fmt::format("The records are stored in {}.\n", plan.folder.string());
  const auto after = [&](const InterleavedRuns& runs, const StoredRun& run, bool is_other) {
    streams.err << (is_other ? "new  " : "base ")
                << (is_other ? runs.other.size() : runs.base.size()) << "/" << plan.pairs << "  "
                << rate_text(run) << "\n";
    if (runs.base.size() == 1 && runs.other.size() == 1) {
      const std::array pair = {runs.base.front(), runs.other.front()};
      check_fields(pair, options.ignored, "ignore");
      check_fields(pair, options.by, "by");
      (void)match_workloads(runs.base, runs.other, options.ignored);
    }
  };
  const InterleavedRuns runs = run_interleaved(plan, after);
  if (runs.interrupted_by != 0) {
    streams.err << fmt::format(
        "bench_results: interrupted after {} of {} pairs; the records remain in {}\n",
        runs.base.size(), plan.pairs, plan.folder.string());
    if (runs.base.empty()) return kSignalled + runs.interrupted_by;
  }
  const Comparison comparison =
      compare({.name = "base", .runs = runs.base}, {.name = "new", .runs = runs.other}, options);
  print_comparisons(streams.out, arguments.text("format"), std::span(&comparison, 1));
  return runs.interrupted_by != 0 ? kSignalled + runs.interrupted_by
                                  : exit_status(std::span(&comparison, 1), arguments.has("strict"));
}

}  // namespace

std::span<const Option> options_of_compare() { return kCompareOptions; }

int run_compare(const Arguments& arguments, Streams streams) {
  if (arguments.has("run")) return compare_commands(arguments, streams);
  for (const char* option : {"pairs", "cooldown", "keep"}) {
    if (arguments.has(option)) {
      throw UsageError(
          fmt::format("--{}: requires --run, which runs two commands in turn", option));
    }
  }
  return compare_stored(arguments, streams);
}

}  // namespace bench::results
