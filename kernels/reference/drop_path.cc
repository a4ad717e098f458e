#include "models/ops/drop_path.h"

#include "kernels/reference/operations.h"
#include "models/base/philox.h"

namespace bench::reference {

Operation drop_path(const Graph&, const Node& node) {
  const auto attributes = node.attributes.as<DropPathAttributes>();
  return {.compute = [attributes](std::span<const Tensor> in, std::span<const Tensor> out,
                                  const Crew&) {
    const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
    const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32U); };
    const auto step = static_cast<std::int32_t>(in[1][0]);
    if (step < 0) {
      out[0].array() = in[0].array();
      return;
    }
    const double keep = keep_probability(attributes, step);
    const auto x = in[0].matrix();
    auto y = out[0].matrix();
    for (std::int64_t n = 0; n < x.rows(); ++n) {
      const std::uint64_t example = attributes.first_example + static_cast<std::uint64_t>(n);
      const std::uint64_t block = example / 4;
      const auto words = philox4x32(
          {low(block), high(block), low(attributes.stream), static_cast<std::uint32_t>(step)},
          {low(attributes.seed), high(attributes.stream)});
      const std::uint32_t word = words[example % 4];
      const double uniform = static_cast<double>(word >> 8U) * 0x1.0p-24;
      if (uniform < keep) {
        y.row(n) = x.row(n) / keep;
      } else {
        y.row(n).setZero();
      }
    }
  }};
}

}  // namespace bench::reference
