#include <array>

#include "models/zoo/layers.h"

namespace bench {
namespace {

/// Simonyan and Zisserman, arXiv:1409.1556; `convs` counts each group's convolutions.
ValueId build_vgg(NetworkBuilder& net, ValueId x, const std::array<int, 5>& convs) {
  constexpr std::array<std::int64_t, 5> kChannels{64, 128, 256, 512, 512};
  for (std::size_t group = 0; group < convs.size(); ++group) {
    for (int i = 0; i < convs.at(group); ++i) {
      x = conv_relu(net, x, {.channels = kChannels.at(group), .window = {.kernel = 3}});
    }
    x = max_pool(net, x, {.kernel = 2, .stride = 2, .padding = Padding::valid});
  }
  x = net.flatten("flatten", x);
  x = fc_relu_dropout(net, x, 4096);
  return net.head(fc_relu_dropout(net, x, 4096));
}

}  // namespace

ValueId build_vgg11(NetworkBuilder& net, ValueId images) {
  return build_vgg(net, images, {1, 1, 2, 2, 2});
}

ValueId build_vgg16(NetworkBuilder& net, ValueId images) {
  return build_vgg(net, images, {2, 2, 3, 3, 3});
}

ValueId build_vgg19(NetworkBuilder& net, ValueId images) {
  return build_vgg(net, images, {2, 2, 4, 4, 4});
}

}  // namespace bench
