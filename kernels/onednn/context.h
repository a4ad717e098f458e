#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "kernels/backend.h"
#include "kernels/cpu/thread_team.h"
#include "kernels/onednn/layouts.h"

namespace bench::onednn {

/// What every candidate of this backend is made from.
struct Context {
  dnnl::engine engine;
  LayoutTable layouts;
  cpu::ThreadTeam& team;
  /// Channels per block of the blocked layout: the floats of one vector register.
  int block = 16;
};

/// What makes the candidates of a node, for each op a function of its name; they are empty when the
/// op cannot run with any of the format's layouts.
using Maker = std::vector<Candidate>(Context&, const Graph&, const Node&, DataFormat);

/// The layouts in which an activation may lie under a format: one for nchw and nhwc (rank 4), for
/// automatic also the channel-blocked one where the channels fill whole blocks. Lower ranks have
/// their canonical layout only.
std::vector<Layout> activation_layouts(const Context& context, const Shape& shape,
                                       DataFormat format);

/// See Backend.
Ceiling measure_ceiling(const Context& context, DType dtype);

/// Rough machine speeds behind the estimates that rank candidates. Only their ratios matter: one
/// core does some 5 multiply-adds in the time it moves one byte to or from memory.
double compute_seconds(const Context& context, std::int64_t multiply_adds,
                       const std::string& implementation, const Layout& activations);
double memory_seconds(const Context& context, std::int64_t bytes);

}  // namespace bench::onednn
