#include "models/zoo/layers.h"

#include <utility>

namespace bench {

ValueId conv_relu(NetworkBuilder& net, ValueId x, const ConvSpec& spec) {
  x = net.conv(net.next("conv"), x, spec);
  return net.relu(net.next("relu"), x);
}

ValueId conv_norm(NetworkBuilder& net, ValueId x, ConvSpec spec, const BatchNormSpec& norm) {
  spec.bias = false;
  x = net.conv(net.next("conv"), x, spec);
  return net.batch_norm(net.next("bn"), x, norm);
}

ValueId conv_norm_relu(NetworkBuilder& net, ValueId x, ConvSpec spec, const BatchNormSpec& norm,
                       ActivationKind kind) {
  x = conv_norm(net, x, std::move(spec), norm);
  return net.activation(net.next("relu"), x, kind);
}

ValueId norm_relu(NetworkBuilder& net, ValueId x, const BatchNormSpec& norm) {
  x = net.batch_norm(net.next("bn"), x, norm);
  return net.relu(net.next("relu"), x);
}

ValueId max_pool(NetworkBuilder& net, ValueId x, const WindowSpec& spec) {
  return net.max_pool(net.next("pool"), x, spec);
}

ValueId avg_pool(NetworkBuilder& net, ValueId x, const WindowSpec& spec) {
  return net.avg_pool(net.next("pool"), x, spec);
}

ValueId fc_relu(NetworkBuilder& net, ValueId x, std::int64_t outputs) {
  x = net.fully_connected(net.next("fc"), x, {.outputs = outputs, .initial = cut_normal(2)});
  return net.relu(net.next("relu"), x);
}

ValueId fc_relu_dropout(NetworkBuilder& net, ValueId x, std::int64_t outputs) {
  x = fc_relu(net, x, outputs);
  return net.dropout(net.next("dropout"), x, 0.5);
}

}  // namespace bench
