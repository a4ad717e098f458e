#pragma once

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

/// One candidate per layout: make(layout).
template <class Make>
std::vector<Candidate> per_layout(const std::vector<Layout>& layouts, const Make& make) {
  std::vector<Candidate> candidates;
  for (const Layout& layout : layouts) {
    candidates.push_back(make(layout));
  }
  return candidates;
}

}  // namespace bench
