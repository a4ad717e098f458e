#include "models/zoo/inception_module.h"
#include "models/zoo/layers.h"

namespace bench {
namespace {

constexpr WindowSpec kHalve{.kernel = 3, .stride = 2};

/// Channels of a module: of the 1x1 column, of the two convolutions of the 3x3 and 5x5 columns, and
/// after the pool.
struct Module {
  std::int64_t one = 0;
  std::int64_t reduce_three = 0;
  std::int64_t three = 0;
  std::int64_t reduce_five = 0;
  std::int64_t five = 0;
  std::int64_t pool = 0;
};

ValueId module(NetworkBuilder& net, ValueId x, const Module& m) {
  return inception_module(net, x,
                          {{column_conv(m.one, 1)},
                           {column_conv(m.reduce_three, 1), column_conv(m.three, 3)},
                           {column_conv(m.reduce_five, 1), column_conv(m.five, 5)},
                           {column_max_pool({.kernel = 3}), column_conv(m.pool, 1)}},
                          [&](ValueId v, const ConvSpec& spec) { return conv_relu(net, v, spec); });
}

}  // namespace

/// Szegedy et al., arXiv:1409.4842, without local response normalisation, dropout and auxiliary
/// heads.
ValueId build_googlenet(NetworkBuilder& net, ValueId images) {
  ValueId x = conv_relu(net, images, {.channels = 64, .window = {.kernel = 7, .stride = 2}});
  x = max_pool(net, x, kHalve);
  x = conv_relu(net, x, {.channels = 64});
  x = conv_relu(net, x, {.channels = 192, .window = {.kernel = 3}});
  x = max_pool(net, x, kHalve);
  x = module(net, x, {64, 96, 128, 16, 32, 32});
  x = module(net, x, {128, 128, 192, 32, 96, 64});
  x = max_pool(net, x, kHalve);
  x = module(net, x, {192, 96, 208, 16, 48, 64});
  x = module(net, x, {160, 112, 224, 24, 64, 64});
  x = module(net, x, {128, 128, 256, 24, 64, 64});
  x = module(net, x, {112, 144, 288, 32, 64, 64});
  x = module(net, x, {256, 160, 320, 32, 128, 128});
  x = max_pool(net, x, kHalve);
  x = module(net, x, {256, 160, 320, 32, 128, 128});
  x = module(net, x, {384, 192, 384, 48, 128, 128});
  x = avg_pool(net, x, {.kernel = 7, .padding = Padding::valid});
  return net.head(net.flatten("flatten", x));
}

}  // namespace bench
