#pragma once

#include "models/zoo/builder.h"

namespace bench {

/// Layers with numbered names: their paths come from NetworkBuilder::next.

/// Convolution, then ReLU.
ValueId conv_relu(NetworkBuilder& net, ValueId x, const ConvSpec& spec);
/// Convolution without bias, then batch norm.
ValueId conv_norm(NetworkBuilder& net, ValueId x, ConvSpec spec, const BatchNormSpec& norm);
/// conv_norm, then an activation, ReLU unless said otherwise.
ValueId conv_norm_relu(NetworkBuilder& net, ValueId x, ConvSpec spec, const BatchNormSpec& norm,
                       ActivationKind kind = ActivationKind::relu);
/// Batch norm, then ReLU.
ValueId norm_relu(NetworkBuilder& net, ValueId x, const BatchNormSpec& norm);
ValueId max_pool(NetworkBuilder& net, ValueId x, const WindowSpec& spec);
ValueId avg_pool(NetworkBuilder& net, ValueId x, const WindowSpec& spec);
/// Fully connected layer, then ReLU.
ValueId fc_relu(NetworkBuilder& net, ValueId x, std::int64_t outputs);
/// fc_relu, then dropout of every second element.
ValueId fc_relu_dropout(NetworkBuilder& net, ValueId x, std::int64_t outputs);

}  // namespace bench
