#include "models/zoo/torchvision_layers.h"

#include "models/zoo/torch_init.h"

namespace bench {

WindowSpec centred_window(std::int64_t kernel, std::int64_t stride) {
  return {
      .kernel = kernel, .stride = stride, .padding = Padding::symmetric, .pad = (kernel - 1) / 2};
}

ValueId conv_norm_activation(NetworkBuilder& net, const std::string& path, ValueId x,
                             const ConvNormActivation& spec) {
  x = net.conv(path + ".0", x,
               {.channels = spec.channels,
                .window = centred_window(spec.kernel, spec.stride),
                .groups = spec.groups,
                .bias = false,
                .initial = he_normal_fan_out});
  x = net.batch_norm(path + ".1", x, spec.norm);
  return spec.activation == ActivationKind::none ? x
                                                 : net.activation(path + ".2", x, spec.activation);
}

ValueId squeeze_excite(NetworkBuilder& net, const std::string& path, ValueId x,
                       const SqueezeExcite& spec) {
  const auto dense = [&](const std::string& name, ValueId in, std::int64_t outputs) {
    return net.conv(path + name, in, {.channels = outputs, .initial = he_normal_fan_out});
  };
  ValueId gate = dense(".fc1", net.global_avg_pool(path + ".avgpool", x), spec.squeezed);
  gate = net.activation(path + ".activation", gate, spec.activation);
  gate = dense(".fc2", gate, net.channels(x));
  gate = net.activation(path + ".scale_activation", gate, spec.gate);
  return net.channel_scale(path + ".scale", x, gate);
}

}  // namespace bench
