#include "bench/plan/rounding_notices.h"

namespace bench {

std::vector<std::string> rounding_notices(const RunSettings& settings) {
  const Workload& workload = settings.workload;
  std::vector<std::string> notices;
  if (settings.execution.slots == SlotType::u8) {
    const bool mixed = workload.dataset->format == "tfrecord" &&
                       workload.input.dataset->resize_method == ResizeMethod::bilinear;
    notices.emplace_back(
        mixed
            ? "images are sent to the device as uint8 and normalised there: each pixel is rounded "
              "after the resize, by at most half a grey level. tf_cnn_benchmarks does not round; "
              "--input_transfer=float avoids it"
            : "images are sent to the device as uint8 and normalised there: no pixel is rounded, "
              "because the resize does not interpolate");
  }
  if (workload.tf32 && settings.execution.device == RunDevice::gpu &&
      workload.dtype == DType::f32 && !workload.choose_half) {
    notices.emplace_back(
        "--use_tf32: f32 convolutions and matrix products round their inputs to TF32 (10-bit "
        "mantissa) if the card supports it");
  }
  return notices;
}

}  // namespace bench
