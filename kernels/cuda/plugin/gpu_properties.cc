// Prints the GPUs of this machine as JSON. For each GPU there are two descriptions. Ours is the one
// that --plan_for computes with and accepts. The other is cuDNN's description of the actual card;
// it should agree with the one that we give cuDNN for a described card.

#include <iostream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "kernels/cuda/cublas/cublas_products.h"
#include "kernels/cuda/cudnn/cudnn_convolutions.h"
#include "kernels/cuda/cudnn/descriptor.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device/properties_file.h"
#include "kernels/cuda/device/runtime.h"
#include "models/base/errors.h"
#include "models/base/text.h"

namespace bench::cuda {
namespace {

using Json = nlohmann::ordered_json;

/// cuDNN's description of a present card; a sentence if cuDNN makes none.
Json cudnn_description(int ordinal) {
  try {
    Descriptor properties(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
    properties.set_value(CUDNN_ATTR_DEVICEPROP_DEVICE_ID, CUDNN_TYPE_INT32,
                         static_cast<std::int32_t>(ordinal));
    properties.finalize();
    return Json::parse(properties.text(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION));
  } catch (const std::exception& error) {
    return fmt::format("unavailable: {}", error.what());
  }
}

int print_properties() {
  int driver = 0;
  int runtime = 0;
  check_cuda(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check_cuda(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  Json gpus = Json::array();
  const PresentDevices present = present_devices();
  for (const std::string& left_out : present.left_out) {
    std::cerr << "gpu_properties: " << left_out << "\n";
  }
  for (const auto& [device, ordinal] : present.usable) {
    gpus.push_back({{"description", Json::parse(description_json(device))},
                    {"for_cudnn", Json::parse(cudnn_device_json(device))},
                    {"of_cudnn", cudnn_description(ordinal)}});
  }
  std::cout << Json{{"cuda_of_driver", driver},
                    {"cuda_of_runtime", runtime},
                    {"libraries", {cudnn_version(), cublas_version()}},
                    {"gpus", gpus}}
                   .dump(2)
            << "\n";
  return 0;
}

}  // namespace
}  // namespace bench::cuda

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--help") {
      std::cerr << "gpu_properties: " << bench::printable(argv[i])
                << ": the only accepted argument is --help\n";
      return 2;
    }
  }
  if (argc > 1) {
    std::cout << "Usage: gpu_properties\n\nPrints the GPUs of this machine as JSON, which bench "
                 "--plan_for=FILE reads.\n";
    return 0;
  }
  try {
    return bench::cuda::print_properties();
  } catch (const bench::UsageError& error) {
    std::cerr << "gpu_properties: this host has no usable GPU: " << error.what() << "\n";
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "gpu_properties: " << error.what() << "\n";
    return 1;
  }
}
