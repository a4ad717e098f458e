#include "bench/verify/plan_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "kernels/forwarding_backend.h"
#include "kernels/onednn/onednn_backend.h"
#include "kernels/reference/reference_backend.h"
#include "models/base/errors.h"
#include "models/base/philox.h"
#include "models/passes/backward.h"
#include "models/passes/fuse.h"
#include "models/passes/mixed_precision.h"
#include "models/zoo/builder.h"
#include "models/zoo/zoo.h"

namespace bench {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::IsEmpty;
using testing::Pair;
using testing::StartsWith;
using testing::UnorderedElementsAre;

constexpr std::int64_t kSize = 12;

/// Padded on one side more, pooled, normalised, dropped, and a sum of two paths.
ValueId build_small(NetworkBuilder& net, ValueId x) {
  x = net.conv("conv", x, {.channels = 16, .window = {.kernel = 3, .stride = 2}, .bias = false});
  x = net.relu("relu", net.batch_norm("norm", x, {.scale = true}));
  x = net.max_pool("pool", x, {.kernel = 3, .stride = 2});
  ValueId y = net.conv("branch", x, {.channels = 16, .window = {.kernel = 3}});
  x = net.relu("sum_relu", net.add("sum", y, x));
  x = net.dropout("dropout", net.flatten("flatten", x), 0.5);
  return net.head(x);
}

/// Three blocks that are alike.
ValueId build_repeating(NetworkBuilder& net, ValueId x) {
  x = net.relu("relu", net.conv("conv", x, {.channels = 16, .window = {.kernel = 3}}));
  for (const char* block : {"a", "b", "c"}) {
    x = net.conv(fmt::format("{}_conv", block), x, {.channels = 16, .window = {.kernel = 3}});
    x = net.max_pool(fmt::format("{}_pool", block), x, {.kernel = 3, .padding = Padding::same});
  }
  return net.head(net.flatten("flatten", x));
}

template <bool scale>
ValueId build_normalised(NetworkBuilder& net, ValueId x) {
  x = net.conv("conv", x, {.channels = 16, .window = {.kernel = 3}, .bias = false});
  x = net.relu("relu", net.batch_norm("norm", x, {.scale = scale}));
  return net.head(net.flatten("flatten", x));
}

struct Setup {
  std::int64_t batch = 2;
  DType dtype = DType::f32;
  ValueId (*build)(NetworkBuilder&, ValueId) = build_small;
  /// The factor of the copies of the first images.
  float of_copies = 1;
};

Graph graph_of(const Setup& setup, std::int64_t batch, const Backend& backend) {
  Model model = *find_model("resnet20", "cifar10");
  model.build = setup.build;
  Graph network = build_network(model, {.batch = batch, .num_classes = 5, .image_size = kSize});
  if (is_half(setup.dtype)) {
    network = mixed_precision(network, setup.dtype, Weights16::cast);
  }
  const SupportQuery supports = [&](const Graph& graph, const Node& node) {
    return backend.supports(graph, node);
  };
  return runnable(add_backward(fuse(network, supports), "loss"), backend);
}

std::vector<CheckedKernel> checked(const Setup& setup, Backend& backend, const Setup& of_small) {
  const std::int64_t images = setup.batch % 2 == 0 ? 2 : 1;
  const Graph small = graph_of(of_small, images, backend);
  Executor executor(graph_of(setup, setup.batch, backend), backend, {});
  const Graph& graph = executor.graph();
  for (const Variable& variable : graph.variables()) {
    RandomStream random(7, hash_name(graph.value(variable.value).name));
    std::vector<float> values(static_cast<std::size_t>(graph.shape(variable.value).elements()));
    for (float& value : values) {
      value = 0.2F * random.normal();
    }
    executor.write_variable(graph.value(variable.value).name, values);
  }
  const auto count = static_cast<std::size_t>(images * 3 * kSize * kSize);
  std::vector<float> pixels(static_cast<std::size_t>(setup.batch * 3 * kSize * kSize));
  RandomStream random(7);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    pixels[i] = i < count ? random.normal() : pixels[i % count] * setup.of_copies;
  }
  std::vector<std::int32_t> labels(static_cast<std::size_t>(setup.batch));
  for (std::size_t n = 0; n < labels.size(); ++n) {
    labels[n] = static_cast<std::int32_t>(n % static_cast<std::size_t>(images));
  }
  std::int32_t step = -1;
  const float loss_scale = 1;
  executor.write_input("images", std::as_bytes(std::span(pixels)));
  executor.write_input("labels", std::as_bytes(std::span(labels)));
  if (std::any_of(graph.inputs().begin(), graph.inputs().end(),
                  [&](ValueId id) { return graph.value(id).name == "step"; })) {
    executor.feed(executor.input("step"), std::as_bytes(std::span(&step, 1)));
  }
  executor.feed(executor.input("loss_scale"), std::as_bytes(std::span(&loss_scale, 1)));
  PlanCheck check(executor, backend, small, images, setup.batch);
  executor.run_observed(check.observer(PlanCheck::Kernels::others));
  step = 3;
  executor.run_observed(check.observer(PlanCheck::Kernels::that_draw));
  return check.kernels();
}

std::vector<CheckedKernel> checked(const Setup& setup, Backend& backend) {
  return checked(setup, backend, setup);
}

std::vector<std::string> failed(const std::vector<CheckedKernel>& kernels) {
  std::vector<std::string> names;
  for (const CheckedKernel& kernel : kernels) {
    if (!(kernel.deviation <= kernel.tolerance)) {
      names.push_back(
          fmt::format("{} {:g} of {:g}", kernel.name, kernel.deviation, kernel.tolerance));
    }
  }
  return names;
}

/// A device whose memory is not the host's.
class ApartBackend final : public ForwardingBackend {
 public:
  using ForwardingBackend::ForwardingBackend;
  [[nodiscard]] bool shares_host_memory() const override { return false; }
};

std::vector<std::string> failed_with_copies(Backend& backend, DType dtype, float factor) {
  return failed(checked({.batch = 6, .dtype = dtype, .build = build_repeating, .of_copies = factor},
                        backend));
}

TEST(PlanCheck, AllowsCopiesOfImagesToDifferALittleOnAGpuIn16Bits) {
  const auto host = make_reference_backend();
  ApartBackend gpu(*host);
  const auto wrong = Contains(StartsWith("conv2d_backward_weights conv/backward_weights"));
  EXPECT_THAT(failed_with_copies(gpu, DType::bf16, 1.002F), IsEmpty());
  EXPECT_THAT(failed_with_copies(*host, DType::bf16, 1.002F), wrong);
  EXPECT_THAT(failed_with_copies(gpu, DType::f32, 1.002F), wrong);
}

TEST(PlanCheck, FindsCopiesThatDifferByMoreThanRoundings) {
  const auto host = make_reference_backend();
  ApartBackend gpu(*host);
  EXPECT_THAT(failed_with_copies(gpu, DType::bf16, 2),
              Contains(AllOf(StartsWith("conv2d_backward_weights"), EndsWith(" of 0.2"))));
}

TEST(PlanCheck, FindsAllKernelsRightInEveryTypeAndBatch) {
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false});
  for (const DType dtype : {DType::f32, DType::bf16}) {
    if (!computes_in(*backend, dtype)) {
      continue;
    }
    for (const std::int64_t batch : {1, 2, 3, 6, 16}) {
      const auto kernels = checked({.batch = batch, .dtype = dtype}, *backend);
      EXPECT_GT(kernels.size(), 20U);
      EXPECT_THAT(failed(kernels), IsEmpty()) << name_of(dtype) << " " << batch;
    }
  }
}

/// One backend's kernels and another one's threads.
class OnThreadsOf final : public ForwardingBackend {
 public:
  OnThreadsOf(Backend& kernels, Backend& threads) : ForwardingBackend(kernels), threads_(threads) {}
  [[nodiscard]] HostThreads host_threads() override { return threads_.host_threads(); }

 private:
  Backend& threads_;
};

TEST(PlanCheck, MeasuresTheSameOnAnyNumberOfThreads) {
  const auto reference = make_reference_backend();
  const auto measured = [&](std::vector<int> processors) {
    const auto backend = make_onednn_backend({.processors = std::move(processors), .pin = false});
    OnThreadsOf same_kernels(*reference, *backend);
    std::vector<std::pair<std::string, double>> deviations;
    for (const CheckedKernel& kernel : checked({}, same_kernels)) {
      deviations.emplace_back(kernel.name, kernel.deviation);
    }
    return deviations;
  };
  EXPECT_EQ(measured({0, 0, 0}), measured({0}));
}

/// One convolution's result is one per cent too large.
class SpoiledBackend final : public ForwardingBackend {
 public:
  using ForwardingBackend::ForwardingBackend;
  std::vector<Candidate> candidates(const Graph& graph, const Node& node,
                                    DataFormat format) override {
    std::vector<Candidate> candidates = ForwardingBackend::candidates(graph, node, format);
    if (node.name == "branch") {
      for (Candidate& candidate : candidates) {
        candidate.make = [make = candidate.make] { return std::make_unique<Spoiled>(make()); };
      }
    }
    return candidates;
  }

 private:
  class Spoiled final : public Kernel {
   public:
    explicit Spoiled(std::unique_ptr<Kernel> inner) : inner_(std::move(inner)) {}
    void launch(Stream& stream, std::span<const TensorView> inputs,
                std::span<const TensorView> outputs, void* workspace) override {
      inner_->launch(stream, inputs, outputs, workspace);
      for (float& value : std::span(outputs[0].as<float>(), outputs[0].bytes / sizeof(float))) {
        value *= 1.01F;
      }
    }

   private:
    std::unique_ptr<Kernel> inner_;
  };
};

TEST(PlanCheck, FindsTheOneKernelThatIsWrongAndNoOther) {
  const auto right = make_onednn_backend({.processors = {0}, .pin = false});
  SpoiledBackend spoiled(*right);
  for (const std::int64_t batch : {1, 2, 16}) {
    EXPECT_THAT(failed(checked({.batch = batch}, spoiled)),
                ElementsAre(testing::StartsWith("conv2d branch ")));
  }
}

TEST(PlanCheck, RefusesASmallerBatchWhoseNodesHaveOtherInputs) {
  const auto backend = make_reference_backend();
  try {
    checked({.build = build_normalised<true>}, *backend, {.build = build_normalised<false>});
    ADD_FAILURE() << "it was checked";
  } catch (const InternalError& error) {
    EXPECT_THAT(
        error.what(),
        testing::HasSubstr(
            "plan check: norm has 3 inputs and 3 outputs, but 2 and 3 in the smaller batch"));
  }
}

TEST(PlanCheckMemory, KeepsTheInputOfPoolingUntilTheCheckEnds) {
  const auto backend = make_reference_backend();
  const Graph graph = graph_of({.build = build_repeating}, 2, *backend);
  const std::size_t pooled = std::size_t{2} * 16 * kSize * kSize;
  EXPECT_EQ(plan_check_memory(graph, 1).kept, 3 * pooled * sizeof(float));
  EXPECT_EQ(plan_check_memory(graph_of({}, 2, *backend), 1).kept, pooled / 4 * sizeof(float));
}

TEST(PlanCheckMemory, IncludesAllStepsOfARecurrentLayer) {
  constexpr std::int64_t kSteps = 100;
  constexpr std::int64_t kBatch = 2;
  constexpr std::int64_t kUnits = 16;
  const auto memory_of = [&](std::int64_t steps) {
    Graph graph;
    NetworkBuilder builder(graph, {});
    const ValueId x = graph.add_input("x", {.shape = {steps, kBatch, kUnits}});
    graph.set_output("y", builder.rnn("rnn", x, {.units = kUnits}));
    return plan_check_memory(graph, 1).node;
  };
  // Three values of each of four gates, and four states, besides x and y.
  EXPECT_GT(memory_of(2 * kSteps) - memory_of(kSteps),
            static_cast<std::size_t>(kSteps * kBatch * kUnits * (3 * 4 + 4)) * sizeof(double));
}

TEST(PlanCheck, LooksAtEveryKindOfKernel) {
  const auto backend = make_reference_backend();
  std::map<std::string, int> places;
  for (const CheckedKernel& kernel : checked({}, *backend)) {
    ++places[kernel.name.substr(0, kernel.name.find(' '))];
  }
  EXPECT_THAT(
      places,
      UnorderedElementsAre(
          Pair("activation", 2), Pair("activation_backward", 2), Pair("add", 2),
          Pair("batch_norm", 1), Pair("batch_norm_backward", 1), Pair("bias_add", 2),
          Pair("bias_backward", 2), Pair("conv2d", 2), Pair("conv2d_backward_data", 1),
          Pair("conv2d_backward_weights", 2), Pair("dropout", 1), Pair("dropout_backward", 1),
          Pair("flatten", 1), Pair("fully_connected", 1), Pair("fully_connected_backward_data", 1),
          Pair("fully_connected_backward_weights", 1), Pair("max_pool", 1),
          Pair("max_pool_backward", 1), Pair("moving_average", 2), Pair("softmax_cross_entropy", 1),
          Pair("softmax_cross_entropy_backward", 1), Pair("unflatten", 1)));
}

TEST(PlanCheck, LooksAtTheFirstTwoPlacesOfEachKind) {
  const auto backend = make_reference_backend();
  std::vector<std::string> names;
  for (const CheckedKernel& kernel : checked({.build = build_repeating}, *backend)) {
    if (kernel.name.starts_with("conv2d")) {
      names.push_back(kernel.name);
    }
  }
  EXPECT_THAT(names, ElementsAre("conv2d conv", "conv2d a_conv", "conv2d b_conv",
                                 "conv2d_backward_weights c_conv/backward_weights",
                                 "conv2d_backward_data c_conv/backward_data",
                                 "conv2d_backward_weights b_conv/backward_weights",
                                 "conv2d_backward_data b_conv/backward_data",
                                 "conv2d_backward_weights conv/backward_weights"));
}

}  // namespace
}  // namespace bench
