#include "bench/plan/rounding_notices.h"

#include "models/base/errors.h"

namespace bench {

std::vector<std::string> rounding_notices(const RunSettings& settings) {
  std::vector<std::string> notices;
  if (settings.input.type == SlotType::u8) {
    const bool mixed = settings.dataset->format == "tfrecord" &&
                       settings.input.dataset->resize_method == ResizeMethod::bilinear;
    notices.push_back(
        cat("images are handed to the device as uint8 and normalised there: ",
            mixed ? "each pixel is rounded after the resize, by at most half a grey level, which "
                    "tf_cnn_benchmarks does not do; --input_transfer=float leaves that out"
                  : "nothing is rounded, since no pixels are mixed"));
  }
  if (settings.gpu.tf32 && settings.device == RunDevice::gpu && settings.dtype == DType::f32) {
    notices.emplace_back(
        "--use_tf32: convolutions and products in f32 round their inputs to TF32, 10 bits of "
        "fraction, where the card computes in it");
  }
  return notices;
}

}  // namespace bench
