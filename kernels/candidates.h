#pragma once

#include <span>
#include <vector>

#include "kernels/backend.h"

// What the functions that make candidates have in common on several devices.

namespace bench {

// Layouts: "nchw" and "nhwc" for activations and filters (OIHW and OHWI), row-major for the rest.
Layout nchw();
Layout nhwc();
/// Row-major: "nchw", "nc", "x" or "scalar" by rank.
Layout row_major(std::size_t rank);
/// An activation's layouts under a format, best first; both for rank 4 and automatic.
std::vector<Layout> plain_layouts(const Shape& shape, DataFormat format);
/// The layout of each value: `layout` for rank 4, row-major for other ranks.
std::vector<Layout> layouts_of(const Graph& graph, const std::vector<ValueId>& values,
                               const Layout& layout);

/// Returns true if a node reads the value.
bool is_read(const Graph& graph, ValueId value);

/// One candidate per layout: make(layout).
template <class Make>
std::vector<Candidate> per_layout(const std::vector<Layout>& layouts, const Make& make) {
  std::vector<Candidate> candidates;
  for (const Layout& layout : layouts) {
    candidates.push_back(make(layout));
  }
  return candidates;
}

/// For an op that treats all elements alike: its output may overwrite any input of its type.
std::vector<Candidate::Overwrite> overwrites_of_alike(const Graph& graph, const Node& node);

/// The memory of a launch.
struct LaunchTensors {
  std::span<const TensorView> inputs;
  std::span<const TensorView> outputs;
  void* workspace = nullptr;

  /// Null for a negative position.
  [[nodiscard]] const void* in(int position) const {
    return position < 0 ? nullptr : inputs[static_cast<std::size_t>(position)].data;
  }
  [[nodiscard]] void* out(int position) const {
    return position < 0 ? nullptr : outputs[static_cast<std::size_t>(position)].data;
  }
  /// The same for f32 elements, whatever type the activations have.
  [[nodiscard]] const float* floats_in(int position) const {
    return static_cast<const float*>(in(position));
  }
  [[nodiscard]] float* floats_out(int position) const { return static_cast<float*>(out(position)); }
};

}  // namespace bench
