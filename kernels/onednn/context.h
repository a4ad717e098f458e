#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "kernels/backend.h"
#include "kernels/candidates.h"
#include "kernels/cpu/thread_team.h"
#include "kernels/onednn/layouts.h"

namespace bench::onednn {

/// The inputs of every candidate of this backend.
struct Context {
  dnnl::engine engine;
  LayoutTable layouts;
  cpu::ThreadTeam& team;
  /// Channels per block of the blocked layout: the floats of one vector register.
  int block = 16;
  /// Convolutions may use Winograd's algorithm.
  bool winograd = true;
};

/// Creates the candidates of a node; each op has a function of its name. Returns an empty vector if
/// the op cannot run in any of the format's layouts.
using Maker = std::vector<Candidate>(Context&, const Graph&, const Node&, DataFormat);

/// The layouts that a format allows for an activation. There is one for nchw and nhwc (rank 4);
/// automatic also allows the channel-blocked one if the channels fill whole blocks. Lower ranks
/// have only their canonical layout, and quanta only quantized_layout().
std::vector<Layout> activation_layouts(const Context& context, const TensorType& type,
                                       DataFormat format);

/// See Backend.
Ceiling measure_ceiling(const Context& context, DType dtype);
double product_flops(const Context& context, DType dtype);
double sample_flops(const Context& context, DType dtype);

/// Rough machine speeds for the estimates that rank candidates. Only their ratios matter: one core
/// does about 5 multiply-adds in the time it moves one byte to or from memory.
double compute_seconds(const Context& context, std::int64_t multiply_adds,
                       const std::string& implementation, const Layout& activations);
double memory_seconds(const Context& context, std::int64_t bytes);

}  // namespace bench::onednn
