#include "kernels/runtime/recorded_parts.h"

#include <algorithm>

namespace bench {
namespace {

/// The number of steps until `gradients` gradients are final.
std::size_t steps_until_final(const LoweredGraph& plan, std::size_t gradients) {
  std::size_t steps = 0;
  for (std::size_t g = 0; g < gradients; ++g) {
    steps = std::max(steps, plan.trained[g].final_step + 1);
  }
  return steps;
}

}  // namespace

std::vector<RecordedPart> record_parts(
    Stream& stream, const LoweredGraph& plan, std::span<const std::size_t> gradients,
    const std::function<void(std::size_t begin, std::size_t end)>& launch) {
  std::vector<std::size_t> ends;
  for (const std::size_t final_ones : gradients) {
    ends.push_back(steps_until_final(plan, final_ones));
  }
  ends.push_back(plan.steps.size());
  std::vector<RecordedPart> parts;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    if (begin < end) {
      parts.push_back({.end = end, .kernels = stream.capture([&] { launch(begin, end); })});
      begin = end;
    }
  }
  return parts;
}

}  // namespace bench
