#include <array>

#include "models/base/errors.h"
#include "models/zoo/builder.h"

namespace bench {
namespace {

constexpr BatchNormSpec kNorm{.epsilon = 1e-5, .decay = 0.9, .scale = true};

/// Where a block that halves the image has its stride: v1 on the first 1x1 convolution (He et al.,
/// arXiv:1512.03385), v1.5 on the 3x3 one.
enum class Version : std::uint8_t { v1, v1_5 };

struct Block {
  std::string path;
  std::int64_t width = 0;
  std::int64_t stride = 1;
};

/// Convolution without bias, then batch norm. Names are torchvision's.
ValueId conv_norm(NetworkBuilder& net, const std::string& conv, const std::string& norm, ValueId x,
                  const ConvSpec& spec) {
  return net.batch_norm(norm, net.conv(conv, x, spec), kNorm);
}

ValueId bottleneck(NetworkBuilder& net, ValueId input, const Block& block, Version version) {
  const std::int64_t out = 4 * block.width;
  const auto spec = [](std::int64_t channels, std::int64_t kernel, std::int64_t stride) {
    return ConvSpec{.channels = channels,
                    .window = {.kernel = kernel, .stride = stride, .padding = Padding::same_resnet},
                    .bias = false};
  };
  ValueId shortcut = input;
  if (net.channels(input) != out || block.stride != 1) {
    shortcut = conv_norm(net, block.path + ".downsample.0", block.path + ".downsample.1", input,
                         spec(out, 1, block.stride));
  }
  const bool first = version == Version::v1;
  ValueId x = conv_norm(net, block.path + ".conv1", block.path + ".bn1", input,
                        spec(block.width, 1, first ? block.stride : 1));
  x = net.relu(block.path + ".relu1", x);
  x = conv_norm(net, block.path + ".conv2", block.path + ".bn2", x,
                spec(block.width, 3, first ? 1 : block.stride));
  x = net.relu(block.path + ".relu2", x);
  x = conv_norm(net, block.path + ".conv3", block.path + ".bn3", x, spec(out, 1, 1));
  return net.relu(block.path + ".relu3", net.add(block.path + ".add", x, shortcut));
}

ValueId build_resnet(NetworkBuilder& net, ValueId images, const std::array<int, 4>& blocks,
                     Version version) {
  ValueId x = conv_norm(net, "conv1", "bn1", images,
                        {.channels = 64,
                         .window = {.kernel = 7, .stride = 2, .padding = Padding::same_resnet},
                         .bias = false});
  x = net.relu("relu", x);
  x = net.max_pool("maxpool", x, {.kernel = 3, .stride = 2, .padding = Padding::same});
  for (std::size_t stage = 0; stage < blocks.size(); ++stage) {
    for (int i = 0; i < blocks.at(stage); ++i) {
      x = bottleneck(net, x,
                     {.path = cat("layer", stage + 1, ".", i),
                      .width = std::int64_t{64} << stage,
                      .stride = i == 0 && stage > 0 ? 2 : 1},
                     version);
    }
  }
  return net.head(net.spatial_mean("mean", x));
}

}  // namespace

ValueId build_resnet50(NetworkBuilder& net, ValueId images) {
  return build_resnet(net, images, {3, 4, 6, 3}, Version::v1);
}

ValueId build_resnet50_v1_5(NetworkBuilder& net, ValueId images) {
  return build_resnet(net, images, {3, 4, 6, 3}, Version::v1_5);
}

}  // namespace bench
