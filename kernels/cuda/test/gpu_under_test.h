#pragma once

#include <functional>
#include <memory>
#include <string>

#include "kernels/test/conformance.h"

namespace bench {

/// A GPU for the suite, emulated or not, without the cases for which it has no kernels.
inline BackendUnderTest gpu_under_test(std::string name,
                                       std::function<std::unique_ptr<Backend>()> make) {
  return {.name = std::move(name),
          .make = std::move(make),
          .lacks = {"quantize", "dequantize", "quantized_add", "quantized_conv2d",
                    "quantized_fully_connected", "quantized_spatial_mean", "rnn", "ctc_loss",
                    "multibox_loss", "embedding", "swap_axes"},
          .lacks_quanta = true};
}

}  // namespace bench
