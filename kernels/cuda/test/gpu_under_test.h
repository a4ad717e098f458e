#pragma once

#include <functional>
#include <memory>
#include <string>

#include "kernels/test/conformance.h"
#include "models/ops/rnn.h"

namespace bench {

/// A GPU for the suite, emulated or not, without the cases for which it has no kernels.
inline BackendUnderTest gpu_under_test(std::string name,
                                       std::function<std::unique_ptr<Backend>()> make) {
  return {.name = std::move(name),
          .make = std::move(make),
          .lacks = {"quantize", "dequantize", "quantized_add", "quantized_conv2d",
                    "quantized_fully_connected", "quantized_spatial_mean", "ctc_loss",
                    "concat_batch_norm", "multibox_loss"},
          .lacks_quanta = true,
          .lacks_case = [](const KernelCase& one, DType /*dtype*/) {
            if (one.op != &kRnn) {
              return false;
            }
            const auto& attributes = one.attributes.as<RnnAttributes>();
            return attributes.lengths || attributes.cell == RnnCell::gru_reset_before;
          }};
}

}  // namespace bench
