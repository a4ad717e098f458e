#include <array>
#include <ostream>

#include "models/base/errors.h"
#include "results/formats/format.h"
#include "results/tool/commands.h"
#include "results/tool/selection.h"

namespace bench::results {
namespace {

constexpr std::array kExportOptions = {
    kStoreOption,
    Option{.name = "format",
           .letter = 'f',
           .value = "FORMAT",
           .meaning = "tf-logs, google-benchmark, lnt, csv, mlperf-system, tensorboard, github, "
                      "mllog, phoronix or trace"},
    Option{.name = "output",
           .letter = 'o',
           .value = "FOLDER",
           .meaning = "folder to write to, created if needed; unset: standard output, if the "
                      "format is one file"},
};

}  // namespace

std::span<const Option> options_of_export() { return kExportOptions; }

int run_export(const Arguments& arguments, Streams streams) {
  if (!arguments.has("format")) {
    throw UsageError(
        "export: choose a format with --format=FORMAT; bench_results export --help lists all");
  }
  const Format& format = format_to_write(arguments.text("format"));
  if (arguments.operands().empty()) {
    throw UsageError("export: no runs were given; give ids, files or a filter");
  }
  const auto [outputs, omitted] =
      write_runs(format, select_runs(arguments, arguments.operands(), streams.err));
  if (omitted > 0) {
    streams.err << fmt::format(
        "note: omitted {} that failed or {} interrupted, because {} cannot hold {}\n",
        omitted == 1 ? "1 run" : fmt::format("{} runs", omitted), omitted == 1 ? "was" : "were",
        format.name, omitted == 1 ? "it" : "them");
  }
  const auto folder = arguments.given("output");
  if (folder) {
    write_outputs(outputs, *folder);
    for (const Output& output : outputs) streams.err << *folder << "/" << output.name << "\n";
    return 0;
  }
  if (outputs.size() != 1) {
    throw UsageError(
        fmt::format("export: {} writes {} files for these runs; give a folder with --output=FOLDER",
                    format.name, outputs.size()));
  }
  streams.out << outputs.front().contents;
  return 0;
}

}  // namespace bench::results
