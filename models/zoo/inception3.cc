#include "models/zoo/inception_module.h"
#include "models/zoo/layers.h"

namespace bench {
namespace {

constexpr WindowSpec kReducePool{.kernel = 3, .stride = 2, .padding = Padding::valid};
constexpr double kAuxWeight = 0.4;

/// The modules of Szegedy et al., arXiv:1512.00567, by the extent of their images.
class Modules {
 public:
  explicit Modules(NetworkBuilder& net) : net_(net) {}

  /// 35x35.
  ValueId a(ValueId x, std::int64_t pool_channels) {
    return module(x, {{column_conv(64, 1)},
                      {column_conv(48, 1), column_conv(64, 5)},
                      {column_conv(64, 1), column_conv(96, 3), column_conv(96, 3)},
                      {column_avg_pool({.kernel = 3}), column_conv(pool_channels, 1)}});
  }

  /// From 35x35 to 17x17.
  ValueId b(ValueId x) {
    return module(x,
                  {{column_conv(384, 3, 2, Padding::valid)},
                   {column_conv(64, 1), column_conv(96, 3), column_conv(96, 3, 2, Padding::valid)},
                   {column_max_pool(kReducePool)}});
  }

  /// 17x17, with n channels inside.
  ValueId c(ValueId x, std::int64_t n) {
    return module(x, {{column_conv(192, 1)},
                      {column_conv(n, 1), column_conv(n, {1, 7}), column_conv(192, {7, 1})},
                      {column_conv(n, 1), column_conv(n, {7, 1}), column_conv(n, {1, 7}),
                       column_conv(n, {7, 1}), column_conv(192, {1, 7})},
                      {column_avg_pool({.kernel = 3}), column_conv(192, 1)}});
  }

  /// From 17x17 to 8x8.
  ValueId d(ValueId x) {
    return module(x, {{column_conv(192, 1), column_conv(320, 3, 2, Padding::valid)},
                      {column_conv(192, 1), column_conv(192, {1, 7}), column_conv(192, {7, 1}),
                       column_conv(192, 3, 2, Padding::valid)},
                      {column_max_pool(kReducePool)}});
  }

  /// 8x8, with two forked columns.
  ValueId e(ValueId x, const ModuleLayer& pool) {
    return module(x, {{column_conv(320, 1)},
                      {column_conv(384, 1), column_conv(384, {1, 3})},
                      {shared_layer(), column_conv(384, {3, 1})},
                      {column_conv(448, 1), column_conv(384, 3), column_conv(384, {1, 3})},
                      {shared_layer(), shared_layer(), column_conv(384, {3, 1})},
                      {pool, column_conv(192, 1)}});
  }

 private:
  ValueId module(ValueId x, const std::vector<ModuleColumn>& columns) {
    return inception_module(net_, x, columns, [&](ValueId v, const ConvSpec& spec) {
      return conv_norm_relu(net_, v, spec, BatchNormSpec{});
    });
  }

  NetworkBuilder& net_;
};

/// The second classifier, on the 17x17 features. It has separate counters, so that the other layers
/// have the same names with and without it.
ValueId auxiliary_logits(NetworkBuilder& net, ValueId x) {
  const auto conv = [&](ValueId v, ConvSpec spec) {
    spec.bias = false;
    v = net.conv(net.next("aux_conv"), v, spec);
    v = net.batch_norm(net.next("aux_bn"), v, BatchNormSpec{});
    return net.relu(net.next("aux_relu"), v);
  };
  x = net.avg_pool("aux_pool", x, {.kernel = 5, .stride = 3, .padding = Padding::valid});
  x = conv(x, {.channels = 128});
  x = conv(x, {.channels = 768,
               .window = {.kernel = 5, .padding = Padding::valid},
               .initial = cut_normal_of(0.01)});
  return net.fully_connected("aux_fc", net.flatten("aux_flatten", x),
                             {.outputs = net.num_classes(), .initial = cut_normal_of(0.001)});
}

}  // namespace

/// Inception v3; Szegedy et al., arXiv:1512.00567, without dropout.
ValueId build_inception3(NetworkBuilder& net, ValueId images) {
  const auto conv = [&](ValueId x, std::int64_t channels, const WindowSpec& window) {
    return conv_norm_relu(net, x, {.channels = channels, .window = window}, BatchNormSpec{});
  };
  ValueId x = conv(images, 32, {.kernel = 3, .stride = 2, .padding = Padding::valid});
  x = conv(x, 32, {.kernel = 3, .padding = Padding::valid});
  x = conv(x, 64, {.kernel = 3});
  x = max_pool(net, x, kReducePool);
  x = conv(x, 80, {.kernel = 1, .padding = Padding::valid});
  x = conv(x, 192, {.kernel = 3, .padding = Padding::valid});
  x = max_pool(net, x, kReducePool);
  Modules modules(net);
  for (const std::int64_t pool_channels : {32, 64, 64}) {
    x = modules.a(x, pool_channels);
  }
  x = modules.b(x);
  for (const std::int64_t inner : {128, 160, 160, 192}) {
    x = modules.c(x, inner);
  }
  if (net.aux_head()) {
    net.set_aux_logits(auxiliary_logits(net, x), kAuxWeight);
  }
  x = modules.d(x);
  x = modules.e(x, column_avg_pool({.kernel = 3}));
  x = modules.e(x, column_max_pool({.kernel = 3}));
  x = avg_pool(net, x, {.kernel = 8, .padding = Padding::valid});
  return net.head(net.flatten("flatten", x));
}

}  // namespace bench
