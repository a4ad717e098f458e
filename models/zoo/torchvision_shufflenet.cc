#include <array>

#include "models/zoo/torch_init.h"
#include "models/zoo/torchvision_layers.h"

namespace bench {
namespace {

struct ConvNorm {
  std::int64_t channels = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t groups = 1;
};

/// A branch of numbered modules, each named `path`.<number>.
class Branch {
 public:
  Branch(NetworkBuilder& net, std::string path, ValueId x)
      : net_(net), path_(std::move(path)), x_(x) {}

  Branch& conv_norm(const ConvNorm& spec) {
    x_ = net_.conv(next(), x_,
                   {.channels = spec.channels,
                    .window = centred_window(spec.kernel, spec.stride),
                    .groups = spec.groups,
                    .bias = false,
                    .initial = torch_default});
    x_ = net_.batch_norm(next(), x_, kTorchNorm);
    return *this;
  }
  Branch& relu() {
    x_ = net_.relu(next(), x_);
    return *this;
  }
  [[nodiscard]] ValueId value() const { return x_; }

 private:
  std::string next() { return fmt::format("{}.{}", path_, modules_++); }

  NetworkBuilder& net_;
  std::string path_;
  ValueId x_;
  int modules_ = 0;
};

/// With stride 1 half of the channels go past the block, else both branches see all of them and
/// the block gives `out` channels.
ValueId block(NetworkBuilder& net, const std::string& path, ValueId x, std::int64_t out,
              std::int64_t stride) {
  const std::int64_t half = out / 2;
  const std::int64_t in = net.channels(x);
  ValueId first = x;
  ValueId second = x;
  if (stride == 1) {
    first = net.channel_slice(path + ".first_half", x, 0, half);
    second = net.channel_slice(path + ".second_half", x, half, half);
  } else {
    first = Branch(net, path + ".branch1", x)
                .conv_norm({.channels = in, .kernel = 3, .stride = stride, .groups = in})
                .conv_norm({.channels = half})
                .relu()
                .value();
  }
  second = Branch(net, path + ".branch2", second)
               .conv_norm({.channels = half})
               .relu()
               .conv_norm({.channels = half, .kernel = 3, .stride = stride, .groups = half})
               .conv_norm({.channels = half})
               .relu()
               .value();
  x = net.concat(path + ".concat", std::array{first, second});
  return net.channel_shuffle(path + ".shuffle", x, 2);
}

}  // namespace

/// Ma et al., arXiv:1807.11164.
ValueId build_shufflenet_v2_x1_0(NetworkBuilder& net, ValueId images) {
  struct Stage {
    int blocks = 0;
    std::int64_t channels = 0;
  };
  constexpr std::array<Stage, 3> kStages{{{4, 116}, {8, 232}, {4, 464}}};
  ValueId x = Branch(net, "conv1", images)
                  .conv_norm({.channels = 24, .kernel = 3, .stride = 2})
                  .relu()
                  .value();
  x = net.max_pool("maxpool", x, centred_window(3, 2));
  for (std::size_t stage = 0; stage < kStages.size(); ++stage) {
    for (int i = 0; i < kStages.at(stage).blocks; ++i) {
      x = block(net, fmt::format("stage{}.{}", stage + 2, i), x, kStages.at(stage).channels,
                i == 0 ? 2 : 1);
    }
  }
  x = Branch(net, "conv5", x).conv_norm({.channels = 1024}).relu().value();
  return net.fully_connected(
      "fc", net.spatial_mean("mean", x),
      {.outputs = net.num_classes(), .initial = torch_default, .bias_initial = torch_default});
}

}  // namespace bench
