#include <algorithm>

#include "kernels/onednn/context.h"
#include "kernels/onednn/quantized.h"
#include "models/ops/quantized.h"

namespace bench::onednn {
namespace {

// One thread's rate, measured on Zen 4 and Emerald Rapids cores; similar on others.
constexpr double kMultiplyAddsPerSecond = 60e9;
constexpr double kBytesPerSecond = 12e9;
// Convolutions over NHWC took 1.03 to 1.06 of the blocked layout's time, oneDNN 3.2 and 3.7, f32.
constexpr double kNhwcFactor = 1.04;
constexpr double kGemmFactor = 1.6;
constexpr double kReferenceFactor = 100;

}  // namespace

std::vector<Layout> activation_layouts(const Context& context, const TensorType& type,
                                       DataFormat format) {
  const Shape& shape = type.shape;
  if (is_quantized(type.dtype)) {
    return {quantized_layout(shape, format)};
  }
  const bool whole_blocks = shape.rank() == 4 && shape[1] % context.block == 0;
  if (format == DataFormat::automatic && whole_blocks) {
    return {LayoutTable::blocked(context.block), nhwc()};
  }
  return plain_layouts(shape, format);
}

double compute_seconds(const Context& context, std::int64_t multiply_adds,
                       const std::string& implementation, const Layout& activations) {
  double seconds = static_cast<double>(multiply_adds) / kMultiplyAddsPerSecond /
                   static_cast<double>(context.team.size());
  const auto is = [&](const char* part) { return implementation.find(part) != std::string::npos; };
  if (is("ref")) {
    seconds *= kReferenceFactor;
  } else if (is("gemm") && !is("brgemm")) {
    seconds *= kGemmFactor;
  }
  return activations == nhwc() ? seconds * kNhwcFactor : seconds;
}

double memory_seconds(const Context& context, std::int64_t bytes) {
  return static_cast<double>(bytes) / kBytesPerSecond / static_cast<double>(context.team.size());
}

}  // namespace bench::onednn
