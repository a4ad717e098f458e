// Batch norms that are left to the convolutions that read them. The tensor that these read and the
// mask of the backward pass must come from the same normalised tensor.

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>

#include "kernels/cuda/gpu/channel_statistics.h"
#include "kernels/cuda/test/gpu_ways.h"
#include "kernels/gpu_emulator/libraries/emulated_backend.h"
#include "kernels/gpu_emulator/test/emulated_test.h"
#include "kernels/test/case_runner.h"
#include "models/base/half.h"
#include "models/ops/activation.h"
#include "models/ops/batch_norm.h"
#include "models/ops/loss.h"
#include "models/ops/spatial_mean.h"
#include "models/passes/backward.h"
#include "models/passes/fuse.h"
#include "models/passes/fuse_batch_norm.h"
#include "models/passes/mixed_precision.h"
#include "models/passes/normalize_where_read.h"

namespace bench::cuda {
namespace {

constexpr double kEpsilon = 1e-3;

/// Per channel.
struct DrawnNorm {
  std::vector<float> gamma;
  std::vector<float> beta;
  std::vector<float> mean;
  std::vector<float> variance;
};

std::vector<float> draw_floats(const InputFill& fill, std::int64_t count, std::string_view name) {
  RandomStream random(test_seed(), hash_name(name));
  const std::vector<double> values = draw(fill, count, random);
  return {values.begin(), values.end()};
}

/// `mean` is the means' offset, in deviations.
DrawnNorm draw_norm(std::int64_t channels, double mean) {
  return {.gamma = draw_floats({.mean = 1, .scale = 0.25}, channels, "gamma"),
          .beta = draw_floats({.scale = 0.5}, channels, "beta"),
          .mean = draw_floats({.mean = mean}, channels, "mean"),
          .variance =
              draw_floats({.kind = InputFill::Kind::positive, .mean = 0.5}, channels, "variance")};
}

/// gamma divided by the deviation, as kernels compute it.
float scale_of(const DrawnNorm& norm, std::size_t channel) {
  return norm.gamma[channel] / std::sqrt(norm.variance[channel] + static_cast<float>(kEpsilon));
}

TEST(ScaleAndShift, HasTheShiftOfTheScaleThatIsRounded) {
  constexpr std::int64_t kChannels = 300;
  const DrawnNorm norm = draw_norm(kChannels, 10);
  const emulator::OnDevice<float> gamma(norm.gamma);
  const emulator::OnDevice<float> beta(norm.beta);
  const emulator::OnDevice<float> mean(norm.mean);
  const emulator::OnDevice<float> variance(norm.variance);
  const emulator::OnDevice<std::uint16_t> scale(kChannels);
  const emulator::OnDevice<std::uint16_t> shift(kChannels);
  scale_and_shift(nullptr, {.channels = kChannels,
                            .gamma = gamma.data(),
                            .beta = beta.data(),
                            .mean = mean.data(),
                            .variance = variance.data(),
                            .epsilon = kEpsilon,
                            .dtype = DType::f16,
                            .scale = scale.data(),
                            .shift = shift.data()});
  const std::vector<std::uint16_t> scales = scale.values();
  const std::vector<std::uint16_t> shifts = shift.values();
  for (std::size_t c = 0; c < norm.gamma.size(); ++c) {
    const Float16 rounded = narrow_to_float16(scale_of(norm, c));
    EXPECT_EQ(scales[c], rounded.bits);
    EXPECT_EQ(shifts[c],
              narrow_to_float16(std::fma(-norm.mean[c], widen(rounded), norm.beta[c])).bits);
  }
}

std::vector<double> as_doubles(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

/// Compares the backward of a stored normalised tensor with the backward that recomputes it. All
/// elements of a channel are equal, and beta brings them within a rounding of 0.
TEST(MaskFromX, EqualsTheMaskOfTheStoredTensorExactly) {
  constexpr std::int64_t kChannels = 512;
  constexpr std::int64_t kPixels = 4;
  const Shape shape{1, kChannels, 1, kPixels};
  DrawnNorm norm = draw_norm(kChannels, 10);
  const std::vector<float> of_channels = draw_floats({.mean = 10}, kChannels, "x");
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    std::vector<double> x;
    for (std::size_t c = 0; c < of_channels.size(); ++c) {
      const float element = dtype == DType::f16    ? widen(narrow_to_float16(of_channels[c]))
                            : dtype == DType::bf16 ? widen(narrow_to_bfloat16(of_channels[c]))
                                                   : of_channels[c];
      x.insert(x.end(), kPixels, element);
      norm.beta[c] = (norm.mean[c] - element) * scale_of(norm, c);
    }
    const std::vector<double> dy = as_doubles(
        draw_floats({.kind = InputFill::Kind::integers, .scale = 4}, shape.elements(), "dy"));

    Graph graph;
    const ValueId gradient = graph.add_input("dy", {.dtype = dtype, .shape = shape});
    const ValueId input = graph.add_input("x", {.dtype = dtype, .shape = shape});
    std::map<std::string, ValueId> vectors;
    for (const char* name : {"gamma", "beta", "mean", "variance"}) {
      vectors[name] = graph.add_input(name, {.shape = {kChannels}});
    }
    BatchNormAttributes attributes{.epsilon = kEpsilon,
                                   .epilogue = {.activation = ActivationKind::relu}};
    const ValueId y = graph.add_node(
        kBatchNormInference, "kept", attributes,
        {input, vectors["gamma"], vectors["beta"], vectors["mean"], vectors["variance"]})[0];
    const auto kept = graph.add_node(
        kBatchNormBackward, "of_kept", attributes,
        {gradient, input, vectors["gamma"], vectors["mean"], vectors["variance"], y});
    attributes.mask_from_x = true;
    const auto made = graph.add_node(
        kBatchNormBackward, "made_again", attributes,
        {gradient, input, vectors["gamma"], vectors["beta"], vectors["mean"], vectors["variance"]});
    graph.set_output("y", y);
    for (std::size_t i = 0; i < kept.size(); ++i) {
      graph.set_output(fmt::format("kept{}", i), kept[i]);
      graph.set_output(fmt::format("made{}", i), made[i]);
    }
    const auto backend = make_emulated_backend();
    GraphRunner runner(graph, *backend, DataFormat::nhwc);
    runner.set("dy", dy);
    runner.set("x", x);
    runner.set("gamma", as_doubles(norm.gamma));
    runner.set("beta", as_doubles(norm.beta));
    runner.set("mean", as_doubles(norm.mean));
    runner.set("variance", as_doubles(norm.variance));
    runner.run();
    // There are values on either side of 0.
    const std::vector<double> normalised = runner.output("y");
    const auto above = std::ranges::count_if(normalised, [](double value) { return value > 0; });
    EXPECT_GT(above, shape.elements() / 16) << name_of(dtype);
    EXPECT_LT(above, shape.elements() * 15 / 16) << name_of(dtype);
    for (std::size_t i = 0; i < kept.size(); ++i) {
      EXPECT_EQ(runner.output(fmt::format("made{}", i)), runner.output(fmt::format("kept{}", i)))
          << name_of(dtype) << " output " << i;
    }
  }
}

/// Three convolutions, each followed by a batch norm and ReLU. Only the next convolution reads two
/// of the results.
Graph chain() {
  Graph graph;
  ValueId x = graph.add_input("images", {.shape = {4, 16, 8, 8}});
  const ValueId labels = graph.add_input("labels", {.dtype = DType::s32, .shape = {4}});
  for (const std::string name : {"a", "b", "c"}) {
    const std::int64_t kernel = name == "b" ? 3 : 1;
    const std::int64_t pad = kernel / 2;
    const Shape channels{16};
    const auto variable = [&](const char* what, const Shape& shape) {
      return graph.add_variable(fmt::format("{}.{}", name, what), {.shape = shape},
                                VariableRole::weight);
    };
    x = graph.add_node(kConv2d, name,
                       Conv2dAttributes{.window = {.kernel = {kernel, kernel},
                                                   .pad_before = {pad, pad},
                                                   .pad_after = {pad, pad}}},
                       {x, variable("filter", {16, 16, kernel, kernel})})[0];
    x = graph.add_node(kBatchNorm, fmt::format("{}.norm", name),
                       BatchNormAttributes{.epsilon = kEpsilon},
                       {x, variable("gamma", channels), variable("beta", channels)})[0];
    x = graph.add_node(kActivation, fmt::format("{}.relu", name), ActivationAttributes{}, {x})[0];
  }
  x = graph.add_node(kSpatialMean, "mean", {}, {x})[0];
  graph.set_output("loss", graph.add_node(kSoftmaxCrossEntropy, "loss",
                                          SoftmaxCrossEntropyAttributes{}, {x, labels})[0]);
  return graph;
}

/// The mean of the filters exceeds their deviation, so that the means of their results are several
/// deviations.
InputFill fill_of(const std::string& name) {
  return name == "labels"            ? InputFill{.kind = InputFill::Kind::labels, .scale = 16}
         : name == "images"          ? InputFill{.mean = 1}
         : name.ends_with(".filter") ? InputFill{.mean = 0.1, .scale = 0.05}
         : name.ends_with(".gamma")  ? InputFill{.mean = 1, .scale = 0.25}
                                     : InputFill{.scale = 0.5};
}

class ChainInF16 : public testing::Test {
 protected:
  /// The graph with its backward pass, with or without batch norms in the convolutions that read
  /// them.
  [[nodiscard]] Graph graph(bool where_read) const {
    const Graph fused = fuse_batch_norm(
        fuse(mixed_precision(chain(), DType::f16, Weights16::cast), supports_), supports_);
    const Graph whole = add_backward(fused, "loss");
    return where_read ? normalize_where_read(whole, supports_) : whole;
  }

  /// All gradients of a graph on a device.
  static std::map<std::string, std::vector<double>> gradients(const Graph& graph, Backend& device) {
    const Graph inputs = variables_as_inputs(graph);
    GraphRunner runner(inputs, device, DataFormat::nhwc);
    for (const ValueId id : inputs.inputs()) {
      const Value& value = inputs.value(id);
      RandomStream random(test_seed(), hash_name(value.name));
      runner.set(value.name, value.name == "loss_scale"
                                 ? std::vector{1024.0}
                                 : draw(fill_of(value.name), value.type.shape.elements(), random));
    }
    runner.run();
    std::map<std::string, std::vector<double>> result;
    for (const auto& [name, id] : inputs.outputs()) {
      if (name.starts_with("gradient/")) {
        result[name] = runner.output(name);
      }
    }
    EXPECT_EQ(result.size(), 9U);
    return result;
  }

  std::unique_ptr<Backend> device_ = make_emulated_backend();
  SupportQuery supports_ = [this](const Graph& graph, const Node& node) {
    return device_->supports(graph, node);
  };
};

TEST_F(ChainInF16, GivesTheSameBitsWhereAKernelOfOursNormalises) {
  const Graph where_read = graph(true);
  ASSERT_EQ(std::ranges::count_if(where_read.nodes(), has_prologue), 4);
  FilteringBackend ahead(make_emulated_backend(), prologues_ahead);
  EXPECT_EQ(gradients(where_read, ahead), gradients(graph(false), *device_));
}

/// The norm of the difference as a fraction of b's.
double relative_difference(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> difference(a.size());
  std::ranges::transform(a, b, difference.begin(), std::minus<>());
  const auto norm = [](const std::vector<double>& values) {
    return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
  };
  return norm(difference) / norm(b);
}

TEST_F(ChainInF16, DiffersByRoundingWhereConvolutionsNormalise) {
  const auto kept = gradients(graph(false), *device_);
  const auto where_read = gradients(graph(true), *device_);
  for (const auto& [name, expected] : kept) {
    EXPECT_LT(relative_difference(where_read.at(name), expected), 64 * 0x1.0p-11) << name;
  }
  EXPECT_NE(where_read, kept);
}

}  // namespace
}  // namespace bench::cuda
