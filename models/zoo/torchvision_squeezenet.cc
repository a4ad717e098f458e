#include <array>
#include <vector>

#include "models/zoo/torch_init.h"
#include "models/zoo/torchvision_layers.h"

namespace bench {
namespace {

/// A fire module: `squeezed` channels, then `expanded` by 1x1 and as many by 3x3 filters.
struct Fire {
  std::int64_t squeezed = 0;
  std::int64_t expanded = 0;
};

ValueId conv_relu(NetworkBuilder& net, const std::string& path, ValueId x, std::int64_t channels,
                  const WindowSpec& window) {
  x = net.conv(path, x, {.channels = channels, .window = window, .initial = he_uniform_fan_in});
  return net.relu(path + "_activation", x);
}

ValueId fire(NetworkBuilder& net, const std::string& path, ValueId x, const Fire& spec) {
  x = conv_relu(net, path + ".squeeze", x, spec.squeezed, centred_window(1));
  const ValueId one = conv_relu(net, path + ".expand1x1", x, spec.expanded, centred_window(1));
  const ValueId three = conv_relu(net, path + ".expand3x3", x, spec.expanded, centred_window(3));
  return net.concat(path + ".concat", std::array{one, three});
}

}  // namespace

/// SqueezeNet (Iandola et al., arXiv:1602.07360) with its authors' later stem and pools, which need
/// less than half of the work.
ValueId build_squeezenet1_1(NetworkBuilder& net, ValueId images) {
  constexpr double kDropoutKeep = 0.5;
  // A pool precedes each group.
  const std::array<std::vector<Fire>, 3> groups{
      {{{16, 64}, {16, 64}}, {{32, 128}, {32, 128}}, {{48, 192}, {48, 192}, {64, 256}, {64, 256}}}};
  ValueId x = conv_relu(net, "features.0", images, 64,
                        {.kernel = 3, .stride = 2, .padding = Padding::valid});
  int feature = 2;
  const auto path = [&] { return fmt::format("features.{}", feature++); };
  for (const std::vector<Fire>& fires : groups) {
    x = net.max_pool(path(), x, {.kernel = 3, .stride = 2, .padding = Padding::ceiling});
    for (const Fire& spec : fires) {
      x = fire(net, path(), x, spec);
    }
  }
  x = net.dropout("classifier.0", x, kDropoutKeep);
  x = net.conv("classifier.1", x,
               {.channels = net.num_classes(), .initial = normal_of_a_hundredth});
  return net.spatial_mean("classifier.3", net.relu("classifier.2", x));
}

}  // namespace bench
