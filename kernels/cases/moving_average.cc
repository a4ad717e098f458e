#include "models/ops/moving_average.h"

#include "kernels/cases/cases.h"

namespace bench {
namespace {

KernelCase make_case(const std::string& name, std::int64_t channels,
                     const MovingAverageAttributes& attributes) {
  return {.name = "moving_average_" + name,
          .op = &kMovingAverage,
          .attributes = attributes,
          .inputs = {{.shape = {channels}}, {.shape = {channels}}},
          .fills = {{}, {}},
          .weights = {0}};
}

std::vector<KernelCase> make_cases() {
  return {make_case("mean", 64, {.decay = 0.9}),
          make_case("unbiased", 64, {.decay = 0.997, .factor = 128.0 / 127.0}),
          make_case("odd", 13, {.decay = 0.999})};
}

}  // namespace

std::span<const KernelCase> moving_average_cases() {
  static const std::vector<KernelCase> kCases = make_cases();
  return kCases;
}

}  // namespace bench
