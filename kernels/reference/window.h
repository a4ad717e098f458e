#pragma once

#include <cstdint>

#include "models/ops/conv2d.h"

namespace bench::reference {

/// Height and width of one channel of an image.
struct Plane {
  std::int64_t height = 0;
  std::int64_t width = 0;
  [[nodiscard]] std::int64_t size() const { return height * width; }
};

inline Plane plane_of(const Shape& shape) { return {.height = shape[2], .width = shape[3]}; }

/// Slides a window over a plane: calls visit(o, tap, i) for each output element and each element of
/// the window, both in row order. `o`, `tap` and `i` are flat positions in the output plane, the
/// window and the input plane; `i` is -1 in the padding.
template <class Visit>
void slide(const Window& window, const Plane& input, const Plane& output, Visit visit) {
  for (std::int64_t oh = 0; oh < output.height; ++oh) {
    for (std::int64_t ow = 0; ow < output.width; ++ow) {
      for (std::int64_t kh = 0; kh < window.kernel[0]; ++kh) {
        for (std::int64_t kw = 0; kw < window.kernel[1]; ++kw) {
          const std::int64_t h =
              oh * window.stride[0] + kh * window.dilation[0] - window.pad_before[0];
          const std::int64_t w =
              ow * window.stride[1] + kw * window.dilation[1] - window.pad_before[1];
          const bool inside = h >= 0 && h < input.height && w >= 0 && w < input.width;
          visit(oh * output.width + ow, kh * window.kernel[1] + kw,
                inside ? h * input.width + w : -1);
        }
      }
    }
  }
}

}  // namespace bench::reference
