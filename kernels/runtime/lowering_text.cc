#include <iomanip>
#include <ostream>
#include <sstream>

#include "kernels/runtime/lowering.h"

namespace bench {
namespace {

std::string milliseconds(double seconds) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(2) << seconds * 1e3 << " ms";
  return text.str();
}

void print(std::ostream& out, const LoweredGraph& lowered,
           const std::vector<std::size_t>& buffers) {
  const char* separator = "";
  for (const std::size_t index : buffers) {
    const Buffer& buffer = lowered.buffers[index];
    out << separator << buffer.type;
    if (buffer.type.opaque) {
      out << "[" << buffer.bytes << " B]";
    } else {
      out << " " << buffer.layout;
    }
    separator = ", ";
  }
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const LoweredGraph& lowered) {
  int reorders = 0;
  double reorder_seconds = 0;
  for (const Step& step : lowered.steps) {
    out << step.op << " " << step.name << ": " << step.implementation << " (";
    print(out, lowered, step.inputs);
    out << ") -> (";
    print(out, lowered, step.outputs);
    out << ")";
    if (step.launches != 1) {
      out << ", " << step.launches << " launches";
    }
    if (step.op == "reorder") {
      ++reorders;
      reorder_seconds += step.seconds;
      out << ", estimated at " << milliseconds(step.seconds);
    }
    out << "\n";
  }
  for (const Step& step : lowered.refreshes) {
    out << "copy " << step.name << ": " << step.implementation << ", by the optimizer\n";
  }
  return out << "reorders: " << reorders << ", estimated at " << milliseconds(reorder_seconds)
             << " of " << milliseconds(lowered.seconds) << "\n";
}

}  // namespace bench
