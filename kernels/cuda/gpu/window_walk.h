#pragma once

#include <numeric>

#include "kernels/cuda/device/device_api.h"
#include "kernels/cuda/gpu/window_axis.h"

// How kernels find the windows that cover a place; included only by .cu files.

namespace bench::cuda {

/// An axis with constants to find the windows that cover an input place, without a division per
/// tap.
struct WindowAxisWalk {
  WindowAxis axis;
  /// dilation / stride and dilation % stride.
  int outputs_per_tap = 0;
  int rest_per_tap = 0;
  /// Windows cover a place with every `period`-th tap. From one such tap to the next, the window
  /// moves by `outputs_per_period` outputs.
  int period = 1;
  int outputs_per_period = 0;
};

inline WindowAxisWalk walk_of(const WindowAxis& axis) {
  const int common = std::gcd(axis.stride, axis.dilation);
  return {.axis = axis,
          .outputs_per_tap = axis.dilation / axis.stride,
          .rest_per_tap = axis.dilation % axis.stride,
          .period = axis.stride / common,
          .outputs_per_period = axis.dilation / common};
}

__device__ inline bool is_within(int place, int extent) {
  return static_cast<unsigned>(place) < static_cast<unsigned>(extent);
}

/// A window that covers a place of the input, and the tap that does.
struct CoveringWindow {
  int tap;
  int output;
};

/// The covering window with the smallest tap. The others follow in steps of `period` taps and
/// -outputs_per_period outputs. The tap is beyond the kernel if no window covers the place. The
/// output may be outside 0..output-1.
__device__ inline CoveringWindow first_covering(const WindowAxisWalk& walk, int place) {
  const int shifted = place + walk.axis.pad_before;
  CoveringWindow window{0, shifted / walk.axis.stride};
  // The distance from the window's start to where `tap` would be at the place.
  int rest = shifted - window.output * walk.axis.stride;
  while (rest != 0 && window.tap < walk.axis.kernel) {
    ++window.tap;
    window.output -= walk.outputs_per_tap;
    rest -= walk.rest_per_tap;
    if (rest < 0) {
      rest += walk.axis.stride;
      --window.output;
    }
  }
  return window;
}

}  // namespace bench::cuda
