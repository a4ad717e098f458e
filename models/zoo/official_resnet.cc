#include "models/zoo/residual.h"

namespace bench {
namespace {

constexpr BatchNormSpec kNorm{.epsilon = 1e-5, .decay = 0.997, .scale = true};

struct Depth {
  std::array<int, 4> blocks{};
  bool bottleneck = true;
};

constexpr Depth k18{.blocks = {2, 2, 2, 2}, .bottleneck = false};
constexpr Depth k34{.blocks = {3, 4, 6, 3}, .bottleneck = false};
constexpr Depth k50{.blocks = {3, 4, 6, 3}};
constexpr Depth k101{.blocks = {3, 4, 23, 3}};
constexpr Depth k152{.blocks = {3, 8, 36, 3}};
constexpr Depth k200{.blocks = {3, 24, 36, 3}};

/// The ResNets of TensorFlow's official models: the stride on the 3x3 convolution in both versions.
ValueId build(NetworkBuilder& net, ValueId images, const Depth& depth, bool preactivated) {
  return build_residual_network(net, images,
                                {.blocks = depth.blocks,
                                 .bottleneck = depth.bottleneck,
                                 .preactivated = preactivated,
                                 .stride_on_3x3 = true,
                                 .always_project = true,
                                 .stem_norm = !preactivated,
                                 .norm = kNorm,
                                 .preactivation_norm = kNorm});
}

}  // namespace

ValueId build_official_resnet18(NetworkBuilder& net, ValueId images) {
  return build(net, images, k18, /*preactivated=*/false);
}

ValueId build_official_resnet34(NetworkBuilder& net, ValueId images) {
  return build(net, images, k34, /*preactivated=*/false);
}

ValueId build_official_resnet50(NetworkBuilder& net, ValueId images) {
  return build(net, images, k50, /*preactivated=*/false);
}

ValueId build_official_resnet101(NetworkBuilder& net, ValueId images) {
  return build(net, images, k101, /*preactivated=*/false);
}

ValueId build_official_resnet152(NetworkBuilder& net, ValueId images) {
  return build(net, images, k152, /*preactivated=*/false);
}

ValueId build_official_resnet200(NetworkBuilder& net, ValueId images) {
  return build(net, images, k200, /*preactivated=*/false);
}

ValueId build_official_resnet18_v2(NetworkBuilder& net, ValueId images) {
  return build(net, images, k18, /*preactivated=*/true);
}

ValueId build_official_resnet34_v2(NetworkBuilder& net, ValueId images) {
  return build(net, images, k34, /*preactivated=*/true);
}

ValueId build_official_resnet50_v2(NetworkBuilder& net, ValueId images) {
  return build(net, images, k50, /*preactivated=*/true);
}

ValueId build_official_resnet101_v2(NetworkBuilder& net, ValueId images) {
  return build(net, images, k101, /*preactivated=*/true);
}

ValueId build_official_resnet152_v2(NetworkBuilder& net, ValueId images) {
  return build(net, images, k152, /*preactivated=*/true);
}

ValueId build_official_resnet200_v2(NetworkBuilder& net, ValueId images) {
  return build(net, images, k200, /*preactivated=*/true);
}

}  // namespace bench
