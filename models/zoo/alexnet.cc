#include "models/zoo/layers.h"

namespace bench {

/// Krizhevsky, arXiv:1404.5997, without its local response normalisation.
ValueId build_alexnet(NetworkBuilder& net, ValueId images) {
  const WindowSpec pool{.kernel = 3, .stride = 2, .padding = Padding::valid};
  ValueId x =
      conv_relu(net, images,
                {.channels = 64, .window = {.kernel = 11, .stride = 4, .padding = Padding::valid}});
  x = max_pool(net, x, pool);
  x = conv_relu(net, x, {.channels = 192, .window = {.kernel = 5}});
  x = max_pool(net, x, pool);
  for (const std::int64_t channels : {384, 384, 256}) {
    x = conv_relu(net, x, {.channels = channels, .window = {.kernel = 3}});
  }
  x = net.flatten("flatten", max_pool(net, x, pool));
  x = fc_relu_dropout(net, x, 4096);
  return net.head(fc_relu_dropout(net, x, 4096));
}

/// The network of TensorFlow's CIFAR-10 tutorial, after Krizhevsky's cuda-convnet; here the
/// normalisation is over channels, always.
ValueId build_cifar_alexnet(NetworkBuilder& net, ValueId images) {
  const WindowSpec pool{.kernel = 3, .stride = 2};
  const LrnAttributes lrn{.radius = 4, .bias = 1, .alpha = 0.001 / 9, .beta = 0.75};
  const auto conv = [&](ValueId x, double bias) {
    return conv_relu(net, x,
                     {.channels = 64,
                      .window = {.kernel = 5},
                      .bias_value = bias,
                      .initial = cut_normal_of(0.05)});
  };
  const auto fc = [&](ValueId x, std::int64_t outputs) {
    x = net.fully_connected(
        net.next("fc"), x, {.outputs = outputs, .bias_value = 0.1, .initial = cut_normal_of(0.04)});
    return net.relu(net.next("relu"), x);
  };
  ValueId x = max_pool(net, conv(images, 0), pool);
  x = conv(net.lrn("lrn0", x, lrn), 0.1);
  x = max_pool(net, net.lrn("lrn1", x, lrn), pool);
  x = fc(net.flatten("flatten", x), 384);
  return net.head(fc(x, 192));
}

}  // namespace bench
