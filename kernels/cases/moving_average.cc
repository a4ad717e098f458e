#include "models/ops/moving_average.h"

#include "kernels/cases/cases.h"

namespace bench {
namespace {

/// One pair per entry of `channels`.
KernelCase make_case(const std::string& name, const std::vector<std::int64_t>& channels,
                     const MovingAverageAttributes& attributes) {
  KernelCase result{
      .name = "moving_average_" + name, .op = &kMovingAverage, .attributes = attributes};
  for (const std::int64_t count : channels) {
    result.weights.push_back(result.inputs.size());
    for (int i = 0; i < 2; ++i) {
      result.inputs.push_back({.shape = {count}});
      result.fills.emplace_back();
    }
  }
  return result;
}

}  // namespace

std::vector<KernelCase> moving_average_cases() {
  return {make_case("mean", {64}, {{{.decay = 0.9}}}),
          make_case("unbiased", {64}, {{{.decay = 0.997, .factor = 128.0 / 127.0}}}),
          make_case("odd", {13}, {{{.decay = 0.999}}}),
          // Enough averages that threads share the work and a boundary is within one of them.
          make_case("gathered", {13, 5000, 1, 9000, 64},
                    {{{.decay = 0.9},
                      {.decay = 0.997, .factor = 1.25},
                      {.decay = 0.5},
                      {.decay = 0.99, .factor = 2},
                      {}}})};
}

}  // namespace bench
