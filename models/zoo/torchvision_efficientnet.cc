#include <array>
#include <cmath>
#include <numeric>

#include "models/zoo/torch_init.h"
#include "models/zoo/torchvision_layers.h"

namespace bench {
namespace {

struct Stage {
  std::int64_t expansion = 1;
  std::int64_t kernel = 3;
  std::int64_t stride = 1;
  std::int64_t channels = 0;
  int blocks = 1;
};

/// Table 1 of Tan and Le, arXiv:1905.11946.
constexpr std::array<Stage, 7> kStages{{{1, 3, 1, 16, 1},
                                        {6, 3, 2, 24, 2},
                                        {6, 5, 2, 40, 2},
                                        {6, 3, 2, 80, 3},
                                        {6, 5, 1, 112, 3},
                                        {6, 5, 2, 192, 4},
                                        {6, 3, 1, 320, 1}}};

/// Inverted residual with squeeze and excitation over a quarter of the input's channels. The
/// residual branch stays with probability `keep`.
ValueId mb_conv(NetworkBuilder& net, const std::string& path, ValueId input, const Stage& stage,
                double keep) {
  const std::int64_t in = net.channels(input);
  const std::int64_t wide = stage.expansion * in;
  ValueId x = input;
  int next = 0;
  const auto layer = [&] { return fmt::format("{}.block.{}", path, next++); };
  if (stage.expansion != 1) {
    x = conv_norm_activation(net, layer(), x,
                             {.channels = wide, .activation = ActivationKind::silu});
  }
  x = conv_norm_activation(net, layer(), x,
                           {.channels = wide,
                            .kernel = stage.kernel,
                            .stride = stage.stride,
                            .groups = wide,
                            .activation = ActivationKind::silu});
  x = squeeze_excite(net, layer(), x, {.squeezed = in / 4, .activation = ActivationKind::silu});
  x = conv_norm_activation(net, layer(), x, {.channels = stage.channels});
  if (stage.stride != 1 || in != stage.channels) {
    return x;
  }
  return net.add(path + ".add", net.drop_path(path + ".stochastic_depth", x, keep), input);
}

}  // namespace

ValueId build_efficientnet_b0(NetworkBuilder& net, ValueId images) {
  constexpr double kDropoutKeep = 0.8;
  // The drop probability rises linearly from 0 at the first block to this after the last.
  constexpr double kDropPath = 0.2;
  const int blocks =
      std::accumulate(kStages.begin(), kStages.end(), 0,
                      [](int sum, const Stage& stage) { return sum + stage.blocks; });
  ValueId x = conv_norm_activation(
      net, "features.0", images,
      {.channels = 32, .kernel = 3, .stride = 2, .activation = ActivationKind::silu});
  int block = 0;
  for (std::size_t i = 0; i < kStages.size(); ++i) {
    Stage stage = kStages.at(i);
    for (int j = 0; j < stage.blocks; ++j) {
      x = mb_conv(net, fmt::format("features.{}.{}", i + 1, j), x, stage,
                  1 - kDropPath * block++ / blocks);
      stage.stride = 1;
    }
  }
  x = conv_norm_activation(net, "features.8", x,
                           {.channels = 4 * net.channels(x), .activation = ActivationKind::silu});
  x = net.dropout("classifier.0", net.spatial_mean("avgpool", x), kDropoutKeep);
  return net.fully_connected("classifier.1", x,
                             {.outputs = net.num_classes(), .initial = [](const Fans& fans) {
                                return uniform_within(1 / std::sqrt(fans.out));
                              }});
}

}  // namespace bench
