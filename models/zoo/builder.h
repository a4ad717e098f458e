#pragma once

#include <array>
#include <string>

#include "models/ir/graph.h"
#include "models/ops/conv2d.h"

namespace bench {

/// How a window is padded. same: TensorFlow's SAME, the odd pixel at the bottom and right.
/// same_resnet: with a stride above 1 explicitly (k-1)/2 before and the rest behind, else SAME.
enum class Padding : std::uint8_t { valid, same, same_resnet };

/// A filter's extents, stride and padding, for one input.
struct WindowSpec {
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  Padding padding = Padding::same;
};
Window make_window(const WindowSpec& spec, const Shape& input);

struct BatchNormSpec {
  double epsilon = 1e-3;
  double decay = 0.999;
  bool scale = false;
};

struct ConvSpec {
  std::int64_t channels = 0;
  WindowSpec window = {};
  bool bias = true;
};

/// Adds layers to a graph: values in, values out. Variables are named after the module path given,
/// with the leaves weight, bias, running_mean and running_var. In training, batch norm takes the
/// batch's statistics and updates the running ones; dropout drops.
class NetworkBuilder {
 public:
  NetworkBuilder(Graph& graph, bool training, std::uint64_t seed)
      : graph_(graph), training_(training), seed_(seed) {}

  /// Filters begin with variance scaling, scale 1, fan in: stddev = sqrt(1 / fan_in) / 0.87962566,
  /// cut at two deviations; biases with 0.
  ValueId conv(const std::string& path, ValueId x, const ConvSpec& spec);
  ValueId batch_norm(const std::string& path, ValueId x, const BatchNormSpec& spec);
  ValueId relu(const std::string& name, ValueId x);
  ValueId add(const std::string& name, ValueId a, ValueId b);
  ValueId max_pool(const std::string& name, ValueId x, const WindowSpec& spec);
  ValueId spatial_mean(const std::string& name, ValueId x);
  ValueId flatten(const std::string& name, ValueId x);
  ValueId dropout(const std::string& name, ValueId x, double keep);
  /// x * w^T + bias; w begins with stddev sqrt(gain / fan_in): gain 2 before a ReLU, else 1.
  ValueId fully_connected(const std::string& path, ValueId x, std::int64_t outputs, double gain);

  [[nodiscard]] std::int64_t channels(ValueId x) const { return graph_.shape(x)[1]; }

 private:
  /// The step's number, on which dropout depends; a graph input of that name.
  ValueId step();

  Graph& graph_;
  bool training_;
  std::uint64_t seed_;
};

}  // namespace bench
