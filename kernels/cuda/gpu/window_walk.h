#pragma once

#include <numeric>

#include "kernels/cuda/device_api.h"
#include "kernels/cuda/gpu/window_axis.h"

// How kernels find the windows that cover a place: included by .cu files only.

namespace bench::cuda {

/// An axis, and how to find the windows that cover a place of the input without a division per tap.
struct WindowAxisWalk {
  WindowAxis axis;
  /// dilation / stride and dilation % stride.
  int outputs_per_tap = 0;
  int rest_per_tap = 0;
  /// Of the taps with which windows cover a place, the distance between neighbours; and how far
  /// apart their windows are.
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

/// A window that covers a place of the input, and with which of its taps.
struct CoveringWindow {
  int tap;
  int output;
};

/// The one that covers it with the least tap; others follow with steps of `period` taps and
/// -outputs_per_period outputs. Its tap is beyond the kernel where there is none; its output may
/// lie outside 0..output-1.
__device__ inline CoveringWindow first_covering(const WindowAxisWalk& walk, int place) {
  const int shifted = place + walk.axis.pad_before;
  CoveringWindow window{0, shifted / walk.axis.stride};
  // From the beginning of the window to where `tap` would have to be at the place.
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
