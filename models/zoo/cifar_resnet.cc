#include "models/zoo/builder.h"

namespace bench {
namespace {

constexpr BatchNormSpec kNorm{.epsilon = 1e-5, .decay = 0.9, .scale = true};
/// For the batch norms before each block and after the last one.
constexpr BatchNormSpec kPreactivationNorm{};

struct CifarResnet {
  int blocks_per_stage = 0;
  /// v2: batch norm and ReLU come before the convolutions.
  bool preactivated = false;
};

struct Block {
  std::string path;
  std::int64_t channels = 0;
  std::int64_t stride = 1;
};

ConvSpec conv_spec(std::int64_t channels, std::int64_t stride) {
  return {.channels = channels, .window = {.kernel = 3, .stride = stride}, .bias = false};
}

/// The input. If a block has more channels, every second pixel in both directions, with equally
/// many channels of zeros before and after.
ValueId shortcut(NetworkBuilder& net, ValueId input, const Block& block) {
  const std::int64_t missing = block.channels - net.channels(input);
  if (missing == 0) {
    return input;
  }
  const ValueId pooled =
      net.avg_pool(block.path + ".pool", input,
                   {.kernel = 1, .stride = block.stride, .padding = Padding::valid});
  return net.channel_pad(block.path + ".pad", pooled, missing / 2, missing - missing / 2);
}

ValueId plain_block(NetworkBuilder& net, ValueId input, const Block& block) {
  const ValueId beside = shortcut(net, input, block);
  ValueId x = net.conv(block.path + ".conv1", input, conv_spec(block.channels, block.stride));
  x = net.relu(block.path + ".relu1", net.batch_norm(block.path + ".bn1", x, kNorm));
  x = net.conv(block.path + ".conv2", x, conv_spec(block.channels, 1));
  x = net.batch_norm(block.path + ".bn2", x, kNorm);
  return net.relu(block.path + ".relu2", net.add(block.path + ".add", x, beside));
}

ValueId preactivated_block(NetworkBuilder& net, ValueId input, const Block& block) {
  const ValueId beside = shortcut(net, input, block);
  ValueId x = net.batch_norm(block.path + ".bn1", input, kPreactivationNorm);
  x = net.relu(block.path + ".relu1", x);
  x = net.conv(block.path + ".conv1", x, conv_spec(block.channels, block.stride));
  x = net.relu(block.path + ".relu2", net.batch_norm(block.path + ".bn2", x, kNorm));
  x = net.conv(block.path + ".conv2", x, conv_spec(block.channels, 1));
  return net.add(block.path + ".add", x, beside);
}

/// He et al., arXiv:1512.03385, section 4.2, and arXiv:1603.05027.
ValueId build_resnet(NetworkBuilder& net, ValueId images, const CifarResnet& network) {
  ValueId x = net.conv("conv1", images, conv_spec(16, 1));
  x = net.batch_norm("bn1", x, kNorm);
  if (network.preactivated) {
    x = net.relu("relu1", x);
  }
  for (int stage = 0; stage < 3; ++stage) {
    for (int i = 0; i < network.blocks_per_stage; ++i) {
      const Block block{.path = fmt::format("layer{}.{}", stage + 1, i),
                        .channels = std::int64_t{16} << stage,
                        .stride = i == 0 && stage > 0 ? 2 : 1};
      x = network.preactivated ? preactivated_block(net, x, block) : plain_block(net, x, block);
    }
  }
  if (network.preactivated) {
    x = net.relu("relu2", net.batch_norm("bn2", x, kPreactivationNorm));
  }
  return net.head(net.spatial_mean("mean", x));
}

}  // namespace

ValueId build_resnet20(NetworkBuilder& net, ValueId images) {
  return build_resnet(net, images, {.blocks_per_stage = 3, .preactivated = false});
}

ValueId build_resnet20_v2(NetworkBuilder& net, ValueId images) {
  return build_resnet(net, images, {.blocks_per_stage = 3, .preactivated = true});
}

ValueId build_resnet32(NetworkBuilder& net, ValueId images) {
  return build_resnet(net, images, {.blocks_per_stage = 5, .preactivated = false});
}

ValueId build_resnet32_v2(NetworkBuilder& net, ValueId images) {
  return build_resnet(net, images, {.blocks_per_stage = 5, .preactivated = true});
}

ValueId build_resnet44(NetworkBuilder& net, ValueId images) {
  return build_resnet(net, images, {.blocks_per_stage = 7, .preactivated = false});
}

ValueId build_resnet44_v2(NetworkBuilder& net, ValueId images) {
  return build_resnet(net, images, {.blocks_per_stage = 7, .preactivated = true});
}

ValueId build_resnet56(NetworkBuilder& net, ValueId images) {
  return build_resnet(net, images, {.blocks_per_stage = 9, .preactivated = false});
}

ValueId build_resnet56_v2(NetworkBuilder& net, ValueId images) {
  return build_resnet(net, images, {.blocks_per_stage = 9, .preactivated = true});
}

ValueId build_resnet110(NetworkBuilder& net, ValueId images) {
  return build_resnet(net, images, {.blocks_per_stage = 18, .preactivated = false});
}

ValueId build_resnet110_v2(NetworkBuilder& net, ValueId images) {
  return build_resnet(net, images, {.blocks_per_stage = 18, .preactivated = true});
}

}  // namespace bench
