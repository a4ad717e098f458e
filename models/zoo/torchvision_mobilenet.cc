#include <array>

#include "models/zoo/torch_init.h"
#include "models/zoo/torchvision_layers.h"

namespace bench {
namespace {

constexpr double kDropoutKeep = 0.8;

struct BlockV2 {
  std::int64_t expansion = 1;
  std::int64_t channels = 0;
  std::int64_t stride = 1;
};

/// Inverted residual: a wide depthwise convolution between two 1x1 ones, the last one linear.
ValueId block_v2(NetworkBuilder& net, const std::string& path, ValueId input,
                 const BlockV2& block) {
  const std::int64_t wide = block.expansion * net.channels(input);
  ValueId x = input;
  int next = 0;
  if (block.expansion != 1) {
    x = conv_norm_activation(net, fmt::format("{}.conv.{}", path, next++), x,
                             {.channels = wide, .activation = ActivationKind::relu6});
  }
  x = conv_norm_activation(net, fmt::format("{}.conv.{}", path, next++), x,
                           {.channels = wide,
                            .kernel = 3,
                            .stride = block.stride,
                            .groups = wide,
                            .activation = ActivationKind::relu6});
  x = net.conv(fmt::format("{}.conv.{}", path, next++), x,
               {.channels = block.channels, .bias = false, .initial = he_normal_fan_out});
  x = net.batch_norm(fmt::format("{}.conv.{}", path, next), x, kTorchNorm);
  const bool residual = block.stride == 1 && net.channels(input) == block.channels;
  return residual ? net.add(path + ".add", x, input) : x;
}

constexpr BatchNormSpec kNormV3{.epsilon = 1e-3, .decay = 0.99, .scale = true};

struct BlockV3 {
  std::int64_t kernel = 3;
  std::int64_t wide = 0;
  std::int64_t channels = 0;
  /// Channels inside the squeeze and excitation: a quarter of `wide`, rounded to a multiple of 8. 0
  /// disables it.
  std::int64_t squeezed = 0;
  ActivationKind activation = ActivationKind::relu;
  std::int64_t stride = 1;
};

ValueId block_v3(NetworkBuilder& net, const std::string& path, ValueId input,
                 const BlockV3& block) {
  ValueId x = input;
  int next = 0;
  const auto layer = [&] { return fmt::format("{}.block.{}", path, next++); };
  if (block.wide != net.channels(input)) {
    x = conv_norm_activation(
        net, layer(), x, {.channels = block.wide, .activation = block.activation, .norm = kNormV3});
  }
  x = conv_norm_activation(net, layer(), x,
                           {.channels = block.wide,
                            .kernel = block.kernel,
                            .stride = block.stride,
                            .groups = block.wide,
                            .activation = block.activation,
                            .norm = kNormV3});
  if (block.squeezed > 0) {
    x = squeeze_excite(net, layer(), x,
                       {.squeezed = block.squeezed, .gate = ActivationKind::hard_sigmoid});
  }
  x = conv_norm_activation(net, layer(), x, {.channels = block.channels, .norm = kNormV3});
  const bool residual = block.stride == 1 && net.channels(input) == block.channels;
  return residual ? net.add(path + ".add", x, input) : x;
}

/// The large network of Table 1 in Howard et al., arXiv:1905.02244.
constexpr std::array<BlockV3, 15> kLargeV3{{
    {3, 16, 16, 0, ActivationKind::relu, 1},
    {3, 64, 24, 0, ActivationKind::relu, 2},
    {3, 72, 24, 0, ActivationKind::relu, 1},
    {5, 72, 40, 24, ActivationKind::relu, 2},
    {5, 120, 40, 32, ActivationKind::relu, 1},
    {5, 120, 40, 32, ActivationKind::relu, 1},
    {3, 240, 80, 0, ActivationKind::hard_swish, 2},
    {3, 200, 80, 0, ActivationKind::hard_swish, 1},
    {3, 184, 80, 0, ActivationKind::hard_swish, 1},
    {3, 184, 80, 0, ActivationKind::hard_swish, 1},
    {3, 480, 112, 120, ActivationKind::hard_swish, 1},
    {3, 672, 112, 168, ActivationKind::hard_swish, 1},
    {5, 672, 160, 168, ActivationKind::hard_swish, 2},
    {5, 960, 160, 240, ActivationKind::hard_swish, 1},
    {5, 960, 160, 240, ActivationKind::hard_swish, 1},
}};

}  // namespace

/// Sandler et al., arXiv:1801.04381.
ValueId build_torchvision_mobilenet_v2(NetworkBuilder& net, ValueId images) {
  struct Group {
    BlockV2 first;
    int blocks = 1;
  };
  constexpr std::array<Group, 7> kGroups{{{{1, 16, 1}, 1},
                                          {{6, 24, 2}, 2},
                                          {{6, 32, 2}, 3},
                                          {{6, 64, 2}, 4},
                                          {{6, 96, 1}, 3},
                                          {{6, 160, 2}, 3},
                                          {{6, 320, 1}, 1}}};
  int feature = 0;
  const auto path = [&] { return fmt::format("features.{}", feature++); };
  ValueId x = conv_norm_activation(
      net, path(), images,
      {.channels = 32, .kernel = 3, .stride = 2, .activation = ActivationKind::relu6});
  for (const Group& group : kGroups) {
    BlockV2 block = group.first;
    for (int i = 0; i < group.blocks; ++i) {
      x = block_v2(net, path(), x, block);
      block.stride = 1;
    }
  }
  x = conv_norm_activation(net, path(), x, {.channels = 1280, .activation = ActivationKind::relu6});
  x = net.dropout("classifier.0", net.spatial_mean("avgpool", x), kDropoutKeep);
  return net.fully_connected("classifier.1", x,
                             {.outputs = net.num_classes(), .initial = normal_of_a_hundredth});
}

ValueId build_mobilenet_v3_large(NetworkBuilder& net, ValueId images) {
  int feature = 0;
  const auto path = [&] { return fmt::format("features.{}", feature++); };
  ValueId x = conv_norm_activation(net, path(), images,
                                   {.channels = 16,
                                    .kernel = 3,
                                    .stride = 2,
                                    .activation = ActivationKind::hard_swish,
                                    .norm = kNormV3});
  for (const BlockV3& block : kLargeV3) {
    x = block_v3(net, path(), x, block);
  }
  x = conv_norm_activation(
      net, path(), x, {.channels = 960, .activation = ActivationKind::hard_swish, .norm = kNormV3});
  x = net.fully_connected("classifier.0", net.spatial_mean("avgpool", x),
                          {.outputs = 1280, .initial = normal_of_a_hundredth});
  x = net.activation("classifier.1", x, ActivationKind::hard_swish);
  x = net.dropout("classifier.2", x, kDropoutKeep);
  return net.fully_connected("classifier.3", x,
                             {.outputs = net.num_classes(), .initial = normal_of_a_hundredth});
}

}  // namespace bench
