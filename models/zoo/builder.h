#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "models/ir/graph.h"
#include "models/ops/activation.h"
#include "models/ops/conv2d.h"
#include "models/ops/lrn.h"
#include "models/ops/rnn.h"
#include "models/ops/spatial_pad.h"

namespace bench {

/// (H, W); a single number sets both.
struct Extent2 {
  std::int64_t height = 0;
  std::int64_t width = 0;
  // NOLINTNEXTLINE(google-explicit-constructor): a square is one number
  constexpr Extent2(std::int64_t both) : height(both), width(both) {}
  constexpr Extent2(std::int64_t h, std::int64_t w) : height(h), width(w) {}
  [[nodiscard]] constexpr std::array<std::int64_t, 2> array() const { return {height, width}; }
};

/// How a window is padded.
/// - same: TensorFlow's SAME, with the odd pixel at the bottom and right;
/// - same_resnet: with a stride above 1, explicit padding with (k-1)/2 before and the rest after;
///   else SAME;
/// - symmetric: WindowSpec::pad on each side;
/// - ceiling: symmetric, plus enough at the bottom and right to complete a last, partial window.
enum class Padding : std::uint8_t { valid, same, same_resnet, symmetric, ceiling };

/// A filter's extents, stride and padding, for one input.
struct WindowSpec {
  Extent2 kernel = 1;
  Extent2 stride = 1;
  Padding padding = Padding::same;
  Extent2 pad = 0;
};
Window make_window(const WindowSpec& spec, const Shape& input);

/// The number of elements that one output of a filter reads, and of outputs that read one input.
struct Fans {
  double in = 1;
  double out = 1;
};
/// How a filter's or a fully connected layer's weights are initialised.
using WeightInit = std::function<Initializer(const Fans&)>;
/// Variance 1 / fan in, from a normal distribution truncated at two deviations.
Initializer variance_scaling(const Fans& fans);
/// A normal distribution with deviation sqrt(gain / fan in), then truncated at two deviations.
WeightInit cut_normal(double gain);
/// A normal distribution with that deviation, then truncated at two deviations.
WeightInit cut_normal_of(double stddev);

struct BatchNormSpec {
  double epsilon = 1e-3;
  double decay = 0.999;
  bool scale = false;
};

struct ConvSpec {
  std::int64_t channels = 0;
  WindowSpec window = {};
  std::int64_t groups = 1;
  bool bias = true;
  double bias_value = 0;
  WeightInit initial = variance_scaling;
};

struct FullyConnectedSpec {
  std::int64_t outputs = 0;
  double bias_value = 0;
  WeightInit initial = cut_normal(1);
  /// If given, initialises the biases; `bias_value` is then ignored.
  WeightInit bias_initial = nullptr;
};

struct EmbeddingSpec {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  Initializer initial = {};
};

/// A recurrent layer; `initial` initialises all its weights.
struct RnnSpec {
  RnnAttributes attributes = {};
  std::int64_t units = 0;
  std::int64_t directions = 1;
  Initializer initial = {};
};

/// The inputs of kCtcLoss.
struct CtcInputs {
  ValueId logits;
  ValueId labels;
  ValueId label_counts;
  ValueId frames;
};

/// The inputs of kMultiboxLoss.
struct MultiboxInputs {
  ValueId offsets;
  ValueId scores;
  ValueId target_offsets;
  ValueId classes;
};

/// What a builder needs to know about the network it builds.
struct BuilderOptions {
  std::int64_t num_classes = 0;
  bool training = true;
  /// True if a model with an auxiliary head should also return its logits.
  bool aux_head = false;
  std::uint64_t seed = 0;
  /// The type of the variables: f32 or f64.
  DType dtype = DType::f32;
  /// Both the same as in NetworkOptions.
  std::int64_t first_image = 0;
  bool biases_decay = true;
};

/// Adds layers to a graph: values in, values out. Variables are named after the given module path,
/// with the leaves weight, bias, running_mean and running_var. In training, batch norm uses the
/// batch's statistics and updates the running ones; dropout and drop-path are active.
class NetworkBuilder {
 public:
  NetworkBuilder(Graph& graph, const BuilderOptions& options) : graph_(graph), options_(options) {}

  /// Counts layers per kind in creation order: "conv0", "conv1", ...
  std::string next(const std::string& kind) { return fmt::format("{}{}", kind, counts_[kind]++); }

  ValueId conv(const std::string& path, ValueId x, const ConvSpec& spec);
  ValueId batch_norm(const std::string& path, ValueId x, const BatchNormSpec& spec);
  ValueId activation(const std::string& name, ValueId x, ActivationKind kind);
  ValueId relu(const std::string& name, ValueId x) {
    return activation(name, x, ActivationKind::relu);
  }
  ValueId add(const std::string& name, ValueId a, ValueId b);
  /// Element by element.
  ValueId multiply(const std::string& name, ValueId a, ValueId b);
  ValueId max_pool(const std::string& name, ValueId x, const WindowSpec& spec);
  /// The mean does not include padding.
  ValueId avg_pool(const std::string& name, ValueId x, const WindowSpec& spec);
  /// [N,C,H,W] -> [N,C,1,1], the mean.
  ValueId global_avg_pool(const std::string& name, ValueId x);
  /// [N,C,H,W] -> [N,C], the mean.
  ValueId spatial_mean(const std::string& name, ValueId x);
  ValueId flatten(const std::string& name, ValueId x);
  /// Over the channels.
  ValueId concat(const std::string& name, std::span<const ValueId> parts);
  ValueId channel_slice(const std::string& name, ValueId x, std::int64_t begin, std::int64_t count);
  ValueId channel_pad(const std::string& name, ValueId x, std::int64_t before, std::int64_t after);
  ValueId channel_shuffle(const std::string& name, ValueId x, std::int64_t groups);
  /// x[N,C,H,W] * s[N,C,1,1].
  ValueId channel_scale(const std::string& name, ValueId x, ValueId s);
  ValueId spatial_pad(const std::string& name, ValueId x, const SpatialPadAttributes& pads);
  ValueId lrn(const std::string& name, ValueId x, const LrnAttributes& attributes);
  /// Elements stay with probability `keep`.
  ValueId dropout(const std::string& name, ValueId x, double keep);
  /// Examples stay with probability `keep`, which is reached after `ramp_steps` steps.
  ValueId drop_path(const std::string& name, ValueId x, double keep, std::int64_t ramp_steps = 0);
  /// x * w^T + bias.
  ValueId fully_connected(const std::string& path, ValueId x, const FullyConnectedSpec& spec);
  /// ids[...] -> [...,columns].
  ValueId embedding(const std::string& path, ValueId ids, const EmbeddingSpec& spec);
  /// [T,N,I] -> [T,N,directions*units]; the biases are 0 at first.
  ValueId rnn(const std::string& path, ValueId x, const RnnSpec& spec);
  /// [A,B,C] -> [B,A,C], or [A,C,B] if `first` is 1.
  ValueId swap_axes(const std::string& name, ValueId x, std::size_t first = 0);
  ValueId reshape(const std::string& name, ValueId x, const Shape& shape);
  ValueId ctc_loss(const std::string& name, const CtcInputs& inputs);
  ValueId multibox_loss(const std::string& name, const MultiboxInputs& inputs);
  /// The logits of most models: a fully connected layer `fc` with an output per class.
  ValueId head(ValueId features) {
    return fully_connected("fc", features, {.outputs = options_.num_classes});
  }

  [[nodiscard]] const Shape& shape(ValueId x) const { return graph_.shape(x); }
  [[nodiscard]] std::int64_t channels(ValueId x) const { return graph_.shape(x)[1]; }
  [[nodiscard]] std::int64_t num_classes() const { return options_.num_classes; }
  [[nodiscard]] bool aux_head() const { return options_.aux_head; }
  /// Logits whose cross-entropy is added to the loss, times `weight`.
  void set_aux_logits(ValueId logits, double weight) { aux_ = {logits, weight}; }

  struct AuxLogits {
    ValueId logits;
    double weight = 0;
  };
  [[nodiscard]] const AuxLogits& aux_logits() const { return aux_; }

 private:
  [[nodiscard]] VariableRole bias_role() const;
  /// The step number, which dropout needs; a graph input with that name.
  ValueId step();

  Graph& graph_;
  BuilderOptions options_;
  std::map<std::string, int> counts_;
  AuxLogits aux_;
};

}  // namespace bench
