#include "models/zoo/residual.h"

namespace bench {
namespace {

constexpr BatchNormSpec kNorm{.epsilon = 1e-5, .decay = 0.9, .scale = true};

constexpr std::array<int, 4> kBlocks50{3, 4, 6, 3};
constexpr std::array<int, 4> kBlocks101{3, 4, 23, 3};
constexpr std::array<int, 4> kBlocks152{3, 8, 36, 3};

ValueId build_v1(NetworkBuilder& net, ValueId images, const std::array<int, 4>& blocks) {
  return build_residual_network(net, images, {.blocks = blocks, .norm = kNorm});
}

ValueId build_v1_5(NetworkBuilder& net, ValueId images, const std::array<int, 4>& blocks) {
  return build_residual_network(net, images,
                                {.blocks = blocks, .stride_on_3x3 = true, .norm = kNorm});
}

ValueId build_v2(NetworkBuilder& net, ValueId images, const std::array<int, 4>& blocks) {
  return build_residual_network(net, images,
                                {.blocks = blocks, .preactivated = true, .norm = kNorm});
}

}  // namespace

ValueId build_resnet50(NetworkBuilder& net, ValueId images) {
  return build_v1(net, images, kBlocks50);
}

ValueId build_resnet101(NetworkBuilder& net, ValueId images) {
  return build_v1(net, images, kBlocks101);
}

ValueId build_resnet152(NetworkBuilder& net, ValueId images) {
  return build_v1(net, images, kBlocks152);
}

ValueId build_resnet50_v1_5(NetworkBuilder& net, ValueId images) {
  return build_v1_5(net, images, kBlocks50);
}

ValueId build_resnet101_v1_5(NetworkBuilder& net, ValueId images) {
  return build_v1_5(net, images, kBlocks101);
}

ValueId build_resnet152_v1_5(NetworkBuilder& net, ValueId images) {
  return build_v1_5(net, images, kBlocks152);
}

ValueId build_resnet50_v2(NetworkBuilder& net, ValueId images) {
  return build_v2(net, images, kBlocks50);
}

ValueId build_resnet101_v2(NetworkBuilder& net, ValueId images) {
  return build_v2(net, images, kBlocks101);
}

ValueId build_resnet152_v2(NetworkBuilder& net, ValueId images) {
  return build_v2(net, images, kBlocks152);
}

}  // namespace bench
