#pragma once

#include <cstdint>

namespace bench {

/// The default learning rate of a model, used unless the user gives another. The epochs are those
/// of the model's dataset.
enum class ModelRate : std::uint8_t {
  constant,         ///< 0.005
  resnet,           ///< ramp over 5 epochs, then a tenth after epochs 30, 60, 80, 90
  official_resnet,  ///< 0.0125 per 32 images, a tenth after epochs 30, 60, 80, 90
  cifar_resnet,     ///< 0.1, 0.01, 0.001, 0.0002; changes after epochs 82, 123, 300
  cifar_densenet,   ///< 0.1, 0.01, 0.001, 0.0001; changes after epochs 150, 225, 300
  cifar_alexnet,    ///< 0.1, a tenth every 100 epochs
  cifar_nasnet,     ///< 0.025
  small_constant,   ///< 0.0005
  ssd,              ///< 0.001 per 32 images, ramp over 5 epochs, a tenth after 160,000 and 200,000
                    ///< steps of 32 images
};

}  // namespace bench
