#include "models/zoo/inception_module.h"
#include "models/zoo/layers.h"

namespace bench {
namespace {

constexpr WindowSpec kReducePool{.kernel = 3, .stride = 2, .padding = Padding::valid};

/// The modules of Szegedy et al., arXiv:1602.07261, one function per figure.
class Modules {
 public:
  explicit Modules(NetworkBuilder& net) : net_(net) {}

  /// Figure 3: from the first three convolutions to 35x35.
  ValueId stem(ValueId x) {
    x = module(x, {{column_max_pool(kReducePool)}, {column_conv(96, 3, 2, Padding::valid)}});
    x = module(x, {{column_conv(64, 1), column_conv(96, 3, 1, Padding::valid)},
                   {column_conv(64, 1), column_conv(64, {7, 1}), column_conv(64, {1, 7}),
                    column_conv(96, 3, 1, Padding::valid)}});
    return module(x, {{column_conv(192, 3, 2, Padding::valid)}, {column_max_pool(kReducePool)}});
  }

  /// Figure 4: 35x35.
  ValueId a(ValueId x) {
    return module(x, {{column_avg_pool({.kernel = 3}), column_conv(96, 1)},
                      {column_conv(96, 1)},
                      {column_conv(64, 1), column_conv(96, 3)},
                      {column_conv(64, 1), column_conv(96, 3), column_conv(96, 3)}});
  }

  /// Figure 7: from 35x35 to 17x17.
  ValueId reduce_a(ValueId x) {
    return module(
        x, {{column_max_pool(kReducePool)},
            {column_conv(384, 3, 2, Padding::valid)},
            {column_conv(192, 1), column_conv(224, 3), column_conv(256, 3, 2, Padding::valid)}});
  }

  /// Figure 5: 17x17.
  ValueId b(ValueId x) {
    return module(x, {{column_avg_pool({.kernel = 3}), column_conv(128, 1)},
                      {column_conv(384, 1)},
                      {column_conv(192, 1), column_conv(224, {1, 7}), column_conv(256, {7, 1})},
                      {column_conv(192, 1), column_conv(192, {1, 7}), column_conv(224, {7, 1}),
                       column_conv(224, {1, 7}), column_conv(256, {7, 1})}});
  }

  /// Figure 8: from 17x17 to 8x8.
  ValueId reduce_b(ValueId x) {
    return module(x, {{column_max_pool(kReducePool)},
                      {column_conv(192, 1), column_conv(192, 3, 2, Padding::valid)},
                      {column_conv(256, 1), column_conv(256, {1, 7}), column_conv(320, {7, 1}),
                       column_conv(320, 3, 2, Padding::valid)}});
  }

  /// Figure 6: 8x8.
  ValueId c(ValueId x) {
    return module(x, {{column_avg_pool({.kernel = 3}), column_conv(256, 1)},
                      {column_conv(256, 1)},
                      {column_conv(384, 1), column_conv(256, {1, 3})},
                      {shared_layer(), column_conv(256, {3, 1})},
                      {column_conv(384, 1), column_conv(448, {1, 3}), column_conv(512, {3, 1}),
                       column_conv(256, {3, 1})},
                      {shared_layer(), shared_layer(), shared_layer(), column_conv(256, {1, 3})}});
  }

 private:
  ValueId module(ValueId x, const std::vector<ModuleColumn>& columns) {
    return inception_module(net_, x, columns, [&](ValueId v, const ConvSpec& spec) {
      return conv_norm_relu(net_, v, spec, BatchNormSpec{});
    });
  }

  NetworkBuilder& net_;
};

}  // namespace

/// Inception v4; Szegedy et al., arXiv:1602.07261.
ValueId build_inception4(NetworkBuilder& net, ValueId images) {
  const auto conv = [&](ValueId x, std::int64_t channels, const WindowSpec& window) {
    return conv_norm_relu(net, x, {.channels = channels, .window = window}, BatchNormSpec{});
  };
  ValueId x = conv(images, 32, {.kernel = 3, .stride = 2, .padding = Padding::valid});
  x = conv(x, 32, {.kernel = 3, .padding = Padding::valid});
  x = conv(x, 64, {.kernel = 3});
  Modules modules(net);
  x = modules.stem(x);
  for (int i = 0; i < 4; ++i) {
    x = modules.a(x);
  }
  x = modules.reduce_a(x);
  for (int i = 0; i < 7; ++i) {
    x = modules.b(x);
  }
  x = modules.reduce_b(x);
  for (int i = 0; i < 3; ++i) {
    x = modules.c(x);
  }
  return net.head(net.dropout("dropout", net.spatial_mean("mean", x), 0.8));
}

}  // namespace bench
