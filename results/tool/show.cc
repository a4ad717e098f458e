#include <array>
#include <nlohmann/json.hpp>
#include <ostream>

#include "models/base/errors.h"
#include "models/base/text.h"
#include "results/tool/commands.h"
#include "results/tool/selection.h"

namespace bench::results {
namespace {

constexpr std::array kShowOptions = {
    kStoreOption,
    Option{.name = "json", .meaning = "print the whole record"},
};

void show(const StoredRun& run, std::ostream& out) {
  out << run.record_id << "  " << printable(run.workload) << "  " << run.status << "\n"
      << "  machine      " << printable(run.machine) << "\n";
  for (const auto& [name, metric] : run.metrics) {
    out << "  " << printable(name) << " " << metric.value << " " << printable(metric.unit) << "\n";
  }
}

}  // namespace

std::span<const Option> options_of_show() { return kShowOptions; }

int run_show(const Arguments& arguments, Streams streams) {
  if (arguments.operands().empty()) {
    throw UsageError("show: name a run: an id, a file or a filter");
  }
  for (const StoredRun& run : select_runs(arguments, arguments.operands())) {
    if (arguments.has("json")) {
      streams.out << run.record.dump(1) << "\n";
    } else {
      show(run, streams.out);
    }
  }
  return 0;
}

}  // namespace bench::results
