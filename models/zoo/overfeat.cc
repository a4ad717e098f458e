#include "models/zoo/layers.h"

namespace bench {

/// The fast model of Sermanet et al., arXiv:1312.6229.
ValueId build_overfeat(NetworkBuilder& net, ValueId images) {
  const WindowSpec pool{.kernel = 2, .stride = 2, .padding = Padding::valid};
  ValueId x =
      conv_relu(net, images,
                {.channels = 96, .window = {.kernel = 11, .stride = 4, .padding = Padding::valid}});
  x = max_pool(net, x, pool);
  x = conv_relu(net, x, {.channels = 256, .window = {.kernel = 5, .padding = Padding::valid}});
  x = max_pool(net, x, pool);
  for (const std::int64_t channels : {512, 1024, 1024}) {
    x = conv_relu(net, x, {.channels = channels, .window = {.kernel = 3}});
  }
  x = net.flatten("flatten", max_pool(net, x, pool));
  x = fc_relu_dropout(net, x, 3072);
  return net.head(fc_relu_dropout(net, x, 4096));
}

}  // namespace bench
