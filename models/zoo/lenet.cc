#include "models/zoo/builder.h"

namespace bench {

/// LeNet-5 in the variant with ReLU, 5x5 filters and max pooling.
ValueId build_lenet(NetworkBuilder& net, ValueId images) {
  const WindowSpec filter{.kernel = 5};
  const WindowSpec pool{.kernel = 2, .stride = 2, .padding = Padding::valid};
  ValueId x = net.relu("relu0", net.conv("conv0", images, {.channels = 32, .window = filter}));
  x = net.max_pool("pool0", x, pool);
  x = net.relu("relu1", net.conv("conv1", x, {.channels = 64, .window = filter}));
  x = net.max_pool("pool1", x, pool);
  x = net.flatten("flatten", x);
  x = net.fully_connected("fc0", x, {.outputs = 512, .initial = cut_normal(2)});
  return net.head(net.relu("relu2", x));
}

}  // namespace bench
