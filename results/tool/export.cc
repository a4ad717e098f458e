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
           .meaning = "folder to write to, made where it is missing; unset: standard output, where "
                      "the format is one file"},
};

}  // namespace

std::span<const Option> options_of_export() { return kExportOptions; }

int run_export(const Arguments& arguments, Streams streams) {
  if (!arguments.has("format")) {
    throw UsageError("export: name a form with --format=FORMAT; export --help lists them");
  }
  const Format& format = format_to_write(arguments.text("format"));
  if (arguments.operands().empty()) {
    throw UsageError("export: name runs: ids, files or a filter");
  }
  const Outputs outputs = format.write(select_runs(arguments, arguments.operands(), streams.err));
  const auto folder = arguments.given("output");
  if (folder) {
    write_outputs(outputs, *folder);
    for (const Output& output : outputs) streams.err << *folder << "/" << output.name << "\n";
    return 0;
  }
  if (outputs.size() != 1) {
    throw UsageError(cat("export: ", format.name, " of these runs is ", outputs.size(),
                         " files; name a folder with --output=FOLDER"));
  }
  streams.out << outputs.front().contents;
  return 0;
}

}  // namespace bench::results
