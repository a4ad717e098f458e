#pragma once

#include "models/zoo/builder.h"

namespace bench {

/// Building blocks that several of torchvision's models share. Variables have torchvision's names.

/// PyTorch's batch norm: its momentum is 1 - decay.
inline constexpr BatchNormSpec kTorchNorm{.epsilon = 1e-5, .decay = 0.9, .scale = true};

/// An odd window, padded by (kernel - 1) / 2 on every side.
WindowSpec centred_window(std::int64_t kernel, std::int64_t stride = 1);

struct ConvNormActivation {
  std::int64_t channels = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t groups = 1;
  ActivationKind activation = ActivationKind::none;
  BatchNormSpec norm = kTorchNorm;
};
/// Convolution `path`.0 without bias, He-initialised over the fan out; batch norm `path`.1;
/// activation.
ValueId conv_norm_activation(NetworkBuilder& net, const std::string& path, ValueId x,
                             const ConvNormActivation& spec);

struct SqueezeExcite {
  std::int64_t squeezed = 0;
  ActivationKind activation = ActivationKind::relu;
  ActivationKind gate = ActivationKind::sigmoid;
};
/// Squeeze and excitation (Hu et al., arXiv:1709.01507): x times a gate per channel. The gate is
/// computed from the means over H and W by two 1x1 convolutions. They are `path`.fc1, to `squeezed`
/// channels, and `path`.fc2.
ValueId squeeze_excite(NetworkBuilder& net, const std::string& path, ValueId x,
                       const SqueezeExcite& spec);

}  // namespace bench
