#pragma once

#include <array>

#include "models/zoo/builder.h"

namespace bench {

/// Parameters of the ResNets for ImageNet; He et al., arXiv:1512.03385 and arXiv:1603.05027.
struct ResidualNetwork {
  /// Blocks of each stage.
  std::array<int, 4> blocks{};
  /// Stride of each stage's first block.
  std::array<std::int64_t, 4> strides{1, 2, 2, 2};
  /// True: three convolutions, 1x1, 3x3 and 1x1, the last with four times the channels. False: two
  /// 3x3 convolutions.
  bool bottleneck = true;
  /// v2: batch norm and ReLU come before a block's convolutions.
  bool preactivated = false;
  /// True if a bottleneck has its stride on the 3x3 convolution (v1.5), not on the first 1x1.
  bool stride_on_3x3 = false;
  /// True if a stage's first block has a projection shortcut even if the extents stay the same.
  bool always_project = false;
  /// Batch norm and ReLU after the first convolution.
  bool stem_norm = true;
  BatchNormSpec norm = {};
  /// v2: for the batch norms before each block and after the last one.
  BatchNormSpec preactivation_norm = {};
};

/// The network from images to the end of its last stage. Names are torchvision's. In v2, `bnI`
/// comes before a block's `convI`, a projection is `downsample.0` without batch norm, and the last
/// batch norm is `bn2`.
ValueId build_residual_stages(NetworkBuilder& net, ValueId images, const ResidualNetwork& network);
/// From images to logits.
ValueId build_residual_network(NetworkBuilder& net, ValueId images, const ResidualNetwork& network);

}  // namespace bench
