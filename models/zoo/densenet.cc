#include <array>
#include <cmath>

#include "models/zoo/layers.h"

namespace bench {
namespace {

constexpr BatchNormSpec kNorm{.epsilon = 1e-5, .decay = 0.9, .scale = true};

/// A square filter's convolution with bias. The weights' variance is 2 / (9 * channels), whatever
/// the filter.
ConvSpec conv_spec(std::int64_t channels, std::int64_t kernel) {
  return {.channels = channels,
          .window = {.kernel = kernel},
          .initial = cut_normal_of(std::sqrt(2.0 / 9 / static_cast<double>(channels)))};
}

/// Huang et al., arXiv:1608.06993, for CIFAR: three blocks in which each layer adds `growth`
/// channels, without bottlenecks or compression.
ValueId build_densenet(NetworkBuilder& net, ValueId images, int layers, std::int64_t growth) {
  ValueId x = net.conv(net.next("conv"), images, {.channels = 16, .window = {.kernel = 3}});
  for (int block = 0; block < 3; ++block) {
    if (block > 0) {
      x = conv_relu(net, norm_relu(net, x, kNorm), conv_spec(net.channels(x), 1));
      x = avg_pool(net, x, {.kernel = 2, .stride = 2, .padding = Padding::valid});
    }
    for (int layer = 0; layer < layers; ++layer) {
      const ValueId added =
          net.conv(net.next("conv"), norm_relu(net, x, kNorm), conv_spec(growth, 3));
      x = net.concat(net.next("concat"), std::array{x, added});
    }
  }
  return net.head(net.spatial_mean("mean", norm_relu(net, x, kNorm)));
}

}  // namespace

ValueId build_densenet40_k12(NetworkBuilder& net, ValueId images) {
  return build_densenet(net, images, 12, 12);
}

ValueId build_densenet100_k12(NetworkBuilder& net, ValueId images) {
  return build_densenet(net, images, 32, 12);
}

ValueId build_densenet100_k24(NetworkBuilder& net, ValueId images) {
  return build_densenet(net, images, 32, 24);
}

}  // namespace bench
