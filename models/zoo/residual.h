#pragma once

#include <array>

#include "models/zoo/builder.h"

namespace bench {

/// What the ResNets for ImageNet differ in; He et al., arXiv:1512.03385 and arXiv:1603.05027.
struct ResidualNetwork {
  /// Blocks of each stage.
  std::array<int, 4> blocks{};
  /// A block is three convolutions, 1x1, 3x3 and 1x1, the last with four times the channels;
  /// otherwise two of 3x3.
  bool bottleneck = true;
  /// v2: batch norm and ReLU stand in front of a block's convolutions.
  bool preactivated = false;
  /// Whether a bottleneck has its stride on the 3x3 convolution (v1.5), not on the first 1x1.
  bool stride_on_3x3 = false;
  /// Whether a stage's first block has a projection shortcut even if the extents stay.
  bool always_project = false;
  /// Batch norm and ReLU behind the first convolution.
  bool stem_norm = true;
  BatchNormSpec norm = {};
  /// v2: of the batch norms in front of a block and behind the last one.
  BatchNormSpec preactivation_norm = {};
};

/// From images to logits. Names are torchvision's; in v2 `bnI` stands in front of a block's
/// `convI`, a projection is `downsample.0` without batch norm, and the last batch norm is `bn2`.
ValueId build_residual_network(NetworkBuilder& net, ValueId images, const ResidualNetwork& network);

}  // namespace bench
