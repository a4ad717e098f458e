#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "kernels/onednn/context.h"

namespace bench::onednn {

/// A kernel whose inputs are dy[N,O] and weights[O,I], and whose output is dx[N,I].
struct SlicedProduct {
  std::size_t workspace_bytes = 0;
  std::function<std::unique_ptr<Kernel>()> make;
};

/// Data gradient of a fully connected layer in f32, dx = dy * weights, as a sum of products over
/// slices of O. In contrast, oneDNN adds all O terms to one accumulator, whose rounding error grows
/// with sqrt(O). Empty if O is one slice, for other types, and if the weights' layout cannot be
/// split along O.
std::optional<SlicedProduct> sliced_data_gradient(Context& context, const dnnl::memory::desc& dx,
                                                  const dnnl::memory::desc& weights,
                                                  const dnnl::memory::desc& dy);

}  // namespace bench::onednn
