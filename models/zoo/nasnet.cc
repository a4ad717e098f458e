#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "models/base/errors.h"
#include "models/zoo/builder.h"

// NASNet-A, Zoph et al., arXiv:1707.07012. Convolutions have neither bias nor activation. Windows
// use Padding::same, except in the ImageNet stem.
//
// Layers are created, and so counted, in this order. Every convolution, depthwise or pointwise,
// uses the counter "conv", and every batch norm "bn":
// 1. The stem's convolution and batch norm: conv0, bn0.
// 2. The cells, from the image to the logits. Each cell has these parts:
//    a. The previous cell's output is adapted. If its width differs: two 1x1 convolutions (of the
//       pixels in place, then of the shifted ones) and one batch norm. If only its channels
//       differ: one 1x1 convolution and batch norm.
//    b. The 1x1 convolution of the cell's input and its batch norm.
//    c. The five combinations, each with the left operand before the right one. A separable filter
//       is: depthwise, pointwise, batch norm, depthwise, pointwise, batch norm. A pool or an
//       identity: a 1x1 convolution and batch norm if its channels are not the cell's.
//    d. A state that is part of the cell's output, but has other channels: a 1x1 convolution and
//       batch norm.
// 3. The head, fc.

namespace bench {
namespace {

enum class Operation : std::uint8_t {
  separable3,
  separable5,
  separable7,
  average3,
  max3,
  identity
};

/// An operation and the state it reads. State 0 is the cell's input, 1 the previous cell's output,
/// and from 2 on the sums of the combinations.
struct Operand {
  Operation operation;
  std::size_t state;
};

struct Combination {
  Operand left;
  Operand right;
};

/// The combinations of a cell, and the states that form its output.
struct Pattern {
  std::array<Combination, 5> combinations;
  std::vector<std::size_t> outputs;
};

Pattern normal_pattern() {
  using enum Operation;
  return {.combinations = {{{{separable5, 0}, {separable3, 1}},
                            {{separable5, 1}, {separable3, 1}},
                            {{average3, 0}, {identity, 1}},
                            {{average3, 1}, {average3, 1}},
                            {{separable3, 0}, {identity, 0}}}},
          .outputs = {1, 2, 3, 4, 5, 6}};
}

Pattern reduction_pattern() {
  using enum Operation;
  return {.combinations = {{{{separable5, 0}, {separable7, 1}},
                            {{max3, 0}, {separable7, 1}},
                            {{average3, 0}, {separable5, 1}},
                            {{identity, 3}, {average3, 2}},
                            {{separable3, 2}, {max3, 0}}}},
          .outputs = {3, 4, 5, 6}};
}

struct Config {
  /// The filters of a cell before both reductions.
  std::int64_t filters = 0;
  std::int64_t stem_filters = 0;
  /// Normal cells; a third of them comes before each reduction and after the last.
  int cells = 0;
  /// True if the stem strides and two reduction cells follow it.
  bool imagenet_stem = true;
  /// True if the cell after a reduction takes as its previous cell the one before the reduction's
  /// input.
  bool skip_reduction_input = false;
  /// Probability that an operand of the last cell stays, after `drop_path_steps` steps.
  double drop_path_keep = 1;
  std::int64_t drop_path_steps = 0;
  double dropout_keep = 1;
  BatchNormSpec norm = {.epsilon = 1e-3, .decay = 0.9997, .scale = true};
};

/// A truncated normal distribution with a variance of about 2 / fan after truncation.
Initializer scaled(double fan) {
  return {.kind = Initializer::Kind::truncated_normal, .stddev = std::sqrt(1.3 * 2 / fan)};
}

class Nasnet {
 public:
  Nasnet(NetworkBuilder& net, const Config& config) : net_(net), config_(config) {}

  ValueId logits(ValueId images);

 private:
  struct Cell {
    std::int64_t filters = 0;
    std::int64_t stride = 1;
    /// Index among all cells.
    int index = 0;
  };

  ValueId reduction_cell(ValueId input, ValueId previous, std::int64_t filters) {
    return cell(reduction_pattern(), input, previous,
                {.filters = filters, .stride = 2, .index = made_++});
  }
  ValueId normal_cell(ValueId input, ValueId previous, std::int64_t filters) {
    return cell(normal_pattern(), input, previous, {.filters = filters, .index = made_++});
  }
  ValueId cell(const Pattern& pattern, ValueId input, ValueId previous, const Cell& cell);
  ValueId adapted(ValueId previous, ValueId input, const Cell& cell);
  ValueId halved(ValueId x, std::int64_t filters);
  ValueId operand(const Operand& operand, ValueId x, const Cell& cell);
  ValueId separable(ValueId x, std::int64_t kernel, std::int64_t stride, std::int64_t filters);
  ValueId pointwise(ValueId x, std::int64_t filters);
  ValueId pointwise_norm(ValueId x, std::int64_t filters) { return norm(pointwise(x, filters)); }
  ValueId norm(ValueId x) { return net_.batch_norm(net_.next("bn"), x, config_.norm); }
  ValueId relu(ValueId x);

  NetworkBuilder& net_;
  Config config_;
  int made_ = 0;
  std::map<ValueId, ValueId> rectified_;
};

/// Several operations begin with the ReLU of the same state; it is created once.
ValueId Nasnet::relu(ValueId x) {
  const auto found = rectified_.find(x);
  if (found != rectified_.end()) {
    return found->second;
  }
  return rectified_[x] = net_.relu(net_.next("relu"), x);
}

ValueId Nasnet::pointwise(ValueId x, std::int64_t filters) {
  return net_.conv(net_.next("conv"), x,
                   {.channels = filters, .bias = false, .initial = [](const Fans& fans) {
                      return scaled(fans.out);
                    }});
}

ValueId Nasnet::separable(ValueId x, std::int64_t kernel, std::int64_t stride,
                          std::int64_t filters) {
  for (const std::int64_t s : {stride, std::int64_t{1}}) {
    // Each channel's filter counts as having one output, so that its fan out is its fan in.
    x = net_.conv(net_.next("conv"), relu(x),
                  {.channels = net_.channels(x),
                   .window = {.kernel = kernel, .stride = s},
                   .groups = net_.channels(x),
                   .bias = false,
                   .initial = [](const Fans& fans) { return scaled(fans.in); }});
    x = pointwise_norm(x, filters);
  }
  return x;
}

/// Halves height and width. Every other pixel gives half of the filters. Their neighbours below and
/// to the right give the rest, with zeros beyond the edge.
ValueId Nasnet::halved(ValueId x, std::int64_t filters) {
  const WindowSpec every_other{.kernel = 1, .stride = 2, .padding = Padding::valid};
  const auto path = [&](ValueId from, std::int64_t outputs) {
    return pointwise(net_.avg_pool(net_.next("pool"), from, every_other), outputs);
  };
  const ValueId even = path(x, filters / 2);
  const ValueId shifted =
      net_.spatial_pad(net_.next("shift"), x, {.before = {-1, -1}, .after = {1, 1}});
  const ValueId odd = path(shifted, filters - filters / 2);
  return norm(net_.concat(net_.next("concat"), std::array{even, odd}));
}

/// The previous cell's output with the extents and channels of this cell.
ValueId Nasnet::adapted(ValueId previous, ValueId input, const Cell& cell) {
  if (!previous.valid()) {
    return input;
  }
  if (net_.shape(previous)[3] != net_.shape(input)[3]) {
    return halved(relu(previous), cell.filters);
  }
  return net_.channels(previous) == cell.filters ? previous
                                                 : pointwise_norm(relu(previous), cell.filters);
}

ValueId Nasnet::operand(const Operand& operand, ValueId x, const Cell& cell) {
  // The sums of combinations already have the smaller extent.
  const std::int64_t stride = operand.state < 2 ? cell.stride : 1;
  const bool fits = net_.channels(x) == cell.filters;
  const WindowSpec pool{.kernel = 3, .stride = stride};
  switch (operand.operation) {
    case Operation::identity:
      check(stride == 1, "nasnet: an unchanged operand requires a stride of 1");
      return fits ? x : pointwise_norm(relu(x), cell.filters);
    case Operation::separable3:
      x = separable(x, 3, stride, cell.filters);
      break;
    case Operation::separable5:
      x = separable(x, 5, stride, cell.filters);
      break;
    case Operation::separable7:
      x = separable(x, 7, stride, cell.filters);
      break;
    case Operation::average3:
      x = net_.avg_pool(net_.next("pool"), x, pool);
      x = fits ? x : pointwise_norm(x, cell.filters);
      break;
    case Operation::max3:
      x = net_.max_pool(net_.next("pool"), x, pool);
      x = fits ? x : pointwise_norm(x, cell.filters);
      break;
  }
  const int cells = config_.cells + (config_.imagenet_stem ? 4 : 2);
  const double depth = static_cast<double>(cell.index + 1) / cells;
  return net_.drop_path(net_.next("drop_path"), x, 1 - depth * (1 - config_.drop_path_keep),
                        config_.drop_path_steps);
}

ValueId Nasnet::cell(const Pattern& pattern, ValueId input, ValueId previous, const Cell& cell) {
  const ValueId before = adapted(previous, input, cell);
  std::vector<ValueId> states{pointwise_norm(relu(input), cell.filters), before};
  for (const Combination& combination : pattern.combinations) {
    const ValueId left = operand(combination.left, states.at(combination.left.state), cell);
    const ValueId right = operand(combination.right, states.at(combination.right.state), cell);
    states.push_back(net_.add(net_.next("add"), left, right));
  }
  std::vector<ValueId> outputs;
  for (const std::size_t state : pattern.outputs) {
    const ValueId x = states.at(state);
    outputs.push_back(net_.channels(x) == cell.filters ? x : pointwise_norm(x, cell.filters));
  }
  return net_.concat(net_.next("concat"), outputs);
}

ValueId Nasnet::logits(ValueId images) {
  const WindowSpec stem = config_.imagenet_stem
                              ? WindowSpec{.kernel = 3, .stride = 2, .padding = Padding::valid}
                              : WindowSpec{.kernel = 3};
  ValueId x = net_.conv(net_.next("conv"), images,
                        {.channels = config_.stem_filters,
                         .window = stem,
                         .bias = false,
                         .initial = [](const Fans& fans) { return scaled(fans.out); }});
  x = norm(x);
  // The outputs of the stem and the cells; the first cell has no previous one.
  std::vector<ValueId> outputs{{}, x};
  const auto before_last = [&] { return outputs.at(outputs.size() - 2); };
  if (config_.imagenet_stem) {
    for (const std::int64_t part : {4, 2}) {
      outputs.push_back(reduction_cell(outputs.back(), before_last(), config_.filters / part));
    }
  }
  std::int64_t filters = config_.filters;
  for (int i = 0; i < config_.cells; ++i) {
    ValueId previous = before_last();
    if (i > 0 && i % (config_.cells / 3) == 0) {
      filters *= 2;
      outputs.push_back(reduction_cell(outputs.back(), previous, filters));
      previous = config_.skip_reduction_input ? previous : before_last();
    }
    outputs.push_back(normal_cell(outputs.back(), previous, filters));
  }
  x = net_.spatial_mean("mean", relu(outputs.back()));
  return net_.head(config_.dropout_keep < 1 ? net_.dropout("dropout", x, config_.dropout_keep) : x);
}

}  // namespace

/// The mobile network.
ValueId build_nasnet(NetworkBuilder& net, ValueId images) {
  return Nasnet(net, {.filters = 44, .stem_filters = 32, .cells = 12, .dropout_keep = 0.5})
      .logits(images);
}

ValueId build_nasnetlarge(NetworkBuilder& net, ValueId images) {
  return Nasnet(net, {.filters = 168,
                      .stem_filters = 96,
                      .cells = 18,
                      .skip_reduction_input = true,
                      .drop_path_keep = 0.7,
                      .drop_path_steps = 250000,
                      .dropout_keep = 0.5})
      .logits(images);
}

ValueId build_nasnet_cifar(NetworkBuilder& net, ValueId images) {
  return Nasnet(net, {.filters = 32,
                      .stem_filters = 96,
                      .cells = 18,
                      .imagenet_stem = false,
                      .drop_path_keep = 0.6,
                      .drop_path_steps = 937500,
                      .norm = {.epsilon = 1e-5, .decay = 0.9, .scale = true}})
      .logits(images);
}

}  // namespace bench
