#include <array>
#include <ostream>

#include "models/base/atomic_file.h"
#include "models/base/errors.h"
#include "models/base/text.h"
#include "results/report/page.h"
#include "results/tool/commands.h"
#include "results/tool/selection.h"

namespace bench::results {
namespace {

constexpr std::array kReportOptions = {
    kStoreOption,
    Option{.name = "output",
           .letter = 'o',
           .value = "FILE",
           .meaning = "HTML file to write; unset or -: standard output"},
    Option{.name = "title", .value = "TEXT", .meaning = "heading of the page"},
    Option{.name = "reference",
           .value = "TEXT",
           .meaning =
               "system that ratios refer to, by a part of its name; unset: the one with the most "
               "workloads"},
    Option{.name = "cost",
           .value = "FILE",
           .meaning =
               "JSON file with prices and power of the systems; unset: the prices in the records"},
    Option{.name = "anonymize",
           .meaning = "omit whatever identifies a host, a person, a place or a path"},
};

}  // namespace

std::span<const Option> options_of_report() { return kReportOptions; }

int run_report(const Arguments& arguments, Streams streams) {
  if (arguments.operands().empty()) {
    throw UsageError("report: no runs were given; give ids, files or a filter");
  }
  PageOptions options;
  if (const auto title = arguments.given("title")) options.title = *title;
  options.report.reference = arguments.text("reference");
  options.report.anonymize = arguments.has("anonymize");
  if (const auto cost = arguments.given("cost")) options.prices = read_cost_file(*cost);
  const std::string output = arguments.text("output");
  const std::vector<StoredRun> runs = select_runs(arguments, arguments.operands(), streams.err);
  const std::string page = report_page(runs, options);
  if (const std::string note = system_tag_note(runs); !note.empty()) {
    streams.err << fmt::format("bench_results: note: {}\n", printable(note));
  }
  if (output.empty() || output == "-") {
    streams.out << page;
  } else {
    AtomicFile(output, "report").write(page);
  }
  return 0;
}

}  // namespace bench::results
