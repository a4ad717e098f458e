// Tests the interface between the runtime and a device with a far device. If the executor forgets
// to copy, to order or to wait, bits differ, or there is an error or a crash.

#include "kernels/test/far_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/cases/cases.h"
#include "kernels/executor.h"
#include "kernels/reference/reference_backend.h"
#include "kernels/test/conformance.h"
#include "models/base/errors.h"
#include "models/base/philox.h"
#include "models/ops/fully_connected.h"
#include "models/passes/backward.h"
#include "models/zoo/builder.h"
#include "models/zoo/zoo.h"

namespace bench {
namespace {

using testing::HasSubstr;
using Kind = FarSchedule::Kind;

std::unique_ptr<Backend> make_far(const FarSchedule& schedule) {
  return make_far_backend(make_reference_backend(), schedule);
}

BackendUnderTest late_reference() {
  return {.name = "far", .make = [] { return make_far({.kind = Kind::deferred}); }};
}

INSTANTIATE_TEST_SUITE_P(Far, Conformance, conformance_parameters(late_reference(), DType::bf16),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(Far, OptimizerConformance, optimizer_parameters(late_reference()),
                         optimizer_name);
INSTANTIATE_TEST_SUITE_P(Far, NormalizationConformance,
                         normalization_parameters(late_reference(), {DType::f32, DType::f64}),
                         normalization_name);

std::vector<BackendUnderTest> on_far_schedules() {
  std::vector<BackendUnderTest> backends;
  for (const FarSchedule& schedule : far_schedules()) {
    backends.push_back({.name = fmt::format("far{}", backends.size()),
                        .make = [schedule] { return make_far(schedule); }});
  }
  return backends;
}
INSTANTIATE_TEST_SUITE_P(Far, StreamConformance, testing::ValuesIn(on_far_schedules()),
                         backend_name);

class FarCases : public testing::TestWithParam<KernelCase> {};

TEST_P(FarCases, HaveTheBitsOfTheInnerDeviceOnEverySchedule) {
  const KernelCase& kernel_case = GetParam();
  const CaseData data = draw_case_data(kernel_case, test_seed());
  for (const Weights weights : {Weights::inputs, Weights::variables}) {
    if (weights == Weights::variables && kernel_case.weights.empty()) {
      continue;
    }
    const CaseOptions options{.dtype = DType::f32, .weights = weights};
    const auto reference = make_reference_backend();
    const CaseOutputs expected = CaseRunner(kernel_case, options, *reference).run(data);
    for (const FarSchedule& schedule : far_schedules()) {
      const auto far = make_far(schedule);
      EXPECT_EQ(CaseRunner(kernel_case, options, *far).run(data), expected)
          << "seed " << schedule.seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, FarCases, testing::ValuesIn(all_cases()),
                         [](const auto& test) { return test.param.name; });

/// A sum of two paths, with batch norm and dropout between.
ValueId build_residual(NetworkBuilder& net, ValueId x) {
  x = net.conv("conv", x, {.channels = 8, .window = {.kernel = 3}, .bias = false});
  x = net.relu("relu", net.batch_norm("norm", x, {.scale = true}));
  const ValueId y = net.conv("branch", x, {.channels = 8, .window = {.kernel = 3}});
  x = net.relu("sum_relu", net.add("sum", y, x));
  x = net.max_pool("pool", x, {.kernel = 3, .stride = 2});
  x = net.dropout("dropout", net.flatten("flatten", x), 0.5);
  return net.head(x);
}

constexpr std::int64_t kBatch = 4;
constexpr std::int64_t kSize = 8;

Graph residual_network() {
  Model model = *find_model("resnet20", "cifar10");
  model.build = build_residual;
  return add_backward(
      build_network(model, {.batch = kBatch, .num_classes = 5, .image_size = kSize}), "loss");
}

using GradientsFinal = std::function<void(Executor&, std::size_t first, std::size_t last)>;

struct StepOptions {
  GradientsFinal gradients_final = {};
  std::function<void(Executor&)> at_the_end = [](Executor&) {};
  /// True if the test waits before it reads results; only then is memory poisoned, which waits too.
  bool awaited = true;
};

/// Runs a training step that uses everything an executor offers; returns results by name.
std::map<std::string, std::vector<float>> train_a_step(Backend& backend,
                                                       const StepOptions& options = {}) {
  Executor executor(residual_network(), backend, {.poison = options.awaited});
  if (options.gradients_final) {
    executor.set_gradients_final([&](std::size_t first, std::size_t last) {
      options.gradients_final(executor, first, last);
    });
  }
  const Graph& graph = executor.graph();
  for (const Variable& variable : graph.variables()) {
    const std::string& name = graph.value(variable.value).name;
    RandomStream random(7, hash_name(name));
    std::vector<float> values(static_cast<std::size_t>(graph.shape(variable.value).elements()));
    std::generate(values.begin(), values.end(), [&] { return 0.5F + 0.2F * random.normal(); });
    executor.write_variable(name, values);
  }
  std::vector<float> images(static_cast<std::size_t>(kBatch * 3 * kSize * kSize));
  RandomStream random(7);
  std::generate(images.begin(), images.end(), [&] { return random.normal(); });
  const std::array<std::int32_t, kBatch> labels{1, 0, 4, 2};
  const float loss_scale = 8;
  const std::int32_t step = 3;
  executor.write_input("images", std::as_bytes(std::span(images)));
  executor.feed(executor.input("labels"), std::as_bytes(std::span(labels)));
  executor.feed(executor.input("loss_scale"), std::as_bytes(std::span(&loss_scale, 1)));
  executor.feed(executor.input("step"), std::as_bytes(std::span(&step, 1)));
  options.awaited ? executor.run() : executor.enqueue();
  options.at_the_end(executor);
  std::map<std::string, std::vector<float>> results;
  results["logits"] = executor.read_output_as_floats("logits");
  for (const char* scalar : {"loss", "l2_loss"}) {
    results[scalar] = {static_cast<float>(executor.read_scalar(scalar))};
  }
  for (const Variable& variable : graph.variables()) {
    const std::string& name = graph.value(variable.value).name;
    results[name] = executor.read_variable(name);
    if (variable.trainable()) {
      results["gradient of " + name] = executor.read_gradient(name);
    }
  }
  return results;
}

TEST(FarNetwork, TrainsWithTheBitsOfTheInnerDeviceOnEverySchedule) {
  const auto reference = make_reference_backend();
  const auto expected = train_a_step(*reference);
  for (const FarSchedule& schedule : far_schedules()) {
    const auto far = make_far(schedule);
    EXPECT_EQ(train_a_step(*far), expected) << "seed " << schedule.seed;
  }
}

TEST(FarNetwork, IsReadAfterEnqueuedWorkWithoutAWait) {
  const auto reference = make_reference_backend();
  const auto expected = train_a_step(*reference);
  for (const FarSchedule& schedule : far_schedules()) {
    const auto far = make_far(schedule);
    EXPECT_EQ(train_a_step(*far, {.awaited = false}), expected) << "seed " << schedule.seed;
  }
}

TEST(FarNetwork, AddsUpTheTimeOfItsTransfers) {
  constexpr std::chrono::milliseconds kDelay{5};
  const auto far = make_far_backend(make_reference_backend(), {.upload_delay = kDelay});
  train_a_step(*far, {.at_the_end = [&](Executor& executor) {
    EXPECT_EQ(executor.transfer_time().count(), 0) << "not timed yet";
    const std::vector<std::int32_t> labels(kBatch, 1);
    executor.feed(executor.input("labels"), std::as_bytes(std::span(labels)));
    executor.run();
    EXPECT_GE(executor.transfer_time(), kDelay);
    EXPECT_EQ(executor.transfer_time().count(), 0) << "nothing came since";
  }});
  const auto near = make_reference_backend();
  train_a_step(*near, {.at_the_end = [&](Executor& executor) {
    EXPECT_EQ(executor.transfer_time().count(), 0);
  }});
}

TEST(FarNetwork, IsPlannedWithMemoryForItsInputsAtTheDevicesAlignment) {
  const auto far = make_far({});
  const Plan plan(residual_network(), *far, {});
  std::size_t inputs = 0;
  for (std::size_t b = 0; b < plan.lowered.buffers.size(); ++b) {
    EXPECT_EQ(plan.memory.offsets[b] % far->memory_traits().alignment, 0U);
    const Buffer& buffer = plan.lowered.buffers[b];
    inputs += buffer.region == Buffer::Region::input ? buffer.bytes : 0;
  }
  EXPECT_GT(inputs, kBatch * 3 * kSize * kSize * sizeof(float));
  EXPECT_GE(plan.memory.report.inputs, inputs);
  EXPECT_EQ(plan.memory.report.staging, kBatch * 3 * kSize * kSize * sizeof(float));
  const auto reference = make_reference_backend();
  const MemoryReport near = Plan(residual_network(), *reference, {}).memory.report;
  EXPECT_EQ(near.inputs + near.staging, 0U);
}

// Each pixel element occupies one byte, and pixels need no more memory.
TEST(FarNetwork, IsPlannedWithMemoryForPixelInputs) {
  constexpr std::size_t kPixels = kBatch * 3 * kSize * kSize;
  const auto far = make_far({});
  const Plan floats(residual_network(), *far, {});
  const Plan pixels(residual_network(), *far, {.pixels = "images"});
  ASSERT_EQ(kPixels % far->memory_traits().alignment, 0U);
  EXPECT_EQ(floats.memory.report.landing, floats.memory.report.inputs);
  EXPECT_EQ(floats.memory.report.landing - pixels.memory.report.landing,
            kPixels * (sizeof(float) - 1));
  EXPECT_EQ(pixels.memory.report.inputs, floats.memory.report.inputs);
  std::size_t end = 0;
  for (const auto& [buffer, landing] : pixels.memory.landings) {
    const Buffer& input = pixels.lowered.buffers[buffer];
    EXPECT_EQ(landing.bytes, input.name == "images" ? kPixels : input.bytes);
    EXPECT_GE(landing.offset, end) << input.name;
    EXPECT_EQ(landing.offset % far->memory_traits().alignment, 0U) << input.name;
    end = landing.offset + landing.bytes;
  }
  EXPECT_EQ(pixels.memory.landings.size(), 4U);
  EXPECT_LE(end, pixels.memory.report.landing);
}

/// The device memory in use while an executor exists that was read and written, and the planned
/// memory.
struct MemoryUse {
  std::size_t taken = 0;
  std::size_t planned = 0;
};
constexpr std::size_t kMemory = std::size_t{1} << 30;

MemoryUse use_of(const Backend& far, const Executor& executor) {
  return {.taken = kMemory - far.memory_traits().free_bytes.value(),
          .planned = executor.memory().total()};
}

TEST(FarNetwork, AllocatesExactlyThePlannedMemory) {
  const auto far = make_far({.memory_bytes = kMemory});
  MemoryUse use;
  train_a_step(*far, {.at_the_end = [&](Executor& executor) {
    (void)executor.read_output_as_floats("logits");
    use = use_of(*far, executor);
  }});
  EXPECT_EQ(use.taken, use.planned);
  EXPECT_EQ(far->memory_traits().free_bytes, kMemory);
  const auto small = make_far({.memory_bytes = use.planned / 2});
  EXPECT_THROW(train_a_step(*small), DeviceError);
}

TEST(FarNetwork, AllocatesExactlyThePlannedMemoryWithPixels) {
  constexpr std::size_t kPixels = kBatch * 3 * kSize * kSize;
  const std::vector<std::uint8_t> grey(kPixels, 200);
  const std::array<std::int32_t, kBatch> labels{1, 0, 4, 2};
  const auto use = [&](std::string_view pixels) {
    const auto far = make_far({.memory_bytes = kMemory});
    Executor executor(residual_network(), *far, {.pixels = pixels});
    const Executor::Input images = executor.input("images");
    executor.feed_pixels(images, grey);
    executor.feed(executor.input("labels"), std::as_bytes(std::span(labels)));
    executor.stream().synchronize();
    EXPECT_EQ(executor.read_input("images"), std::vector<float>(kPixels, (200 - 127.5F) / 127.5F));
    const MemoryUse both = use_of(*far, executor);
    EXPECT_EQ(both.taken, both.planned);
    return both.taken;
  };
  EXPECT_EQ(use("") - use("images"), kPixels * (sizeof(float) - 1));
}

TEST(FarNetwork, RefusesFloatsIfItIsPlannedForPixels) {
  const auto far = make_far({});
  Executor executor(residual_network(), *far, {.pixels = "images"});
  const std::vector<float> images(kBatch * 3 * kSize * kSize);
  EXPECT_THAT([&] { executor.feed(executor.input("images"), std::as_bytes(std::span(images))); },
              testing::ThrowsMessage<InternalError>(
                  HasSubstr("the input is larger than its landing buffer")));
}

// The host reads and writes them in f32.
TEST(FarNetwork, PlansForVariablesAndOutputsThatAreNarrowerOnTheDevice) {
  Graph graph;
  const ValueId weight = graph.add_variable("weight", {.dtype = DType::bf16, .shape = {64, 300}},
                                            VariableRole::weight);
  const ValueId x = graph.add_input("x", {.dtype = DType::bf16, .shape = {2, 300}});
  graph.set_output(
      "y", graph.add_node(kFullyConnected, "fc", FullyConnectedAttributes{}, {x, weight})[0]);
  const auto far = make_far({.memory_bytes = kMemory});
  Executor executor(graph, *far, {});
  executor.write_variable("weight", std::vector<float>(64 * 300, 1));
  executor.write_input("x", std::vector<std::byte>(2 * 300 * 2));
  executor.run();
  (void)executor.read_output_as_floats("y");
  const MemoryUse use = use_of(*far, executor);
  EXPECT_EQ(use.taken, use.planned);
}

// An announced gradient is final, and the listener may overwrite it.
TEST(FarNetwork, TouchesNoGradientAfterItWasAnnounced) {
  const auto reference = make_reference_backend();
  std::vector<std::size_t> announced;
  const auto gradient_of = [](Executor& executor, std::size_t i) {
    const OptimizerSegment& segment = executor.segments()[i];
    return TensorView{.data = executor.gradients().as<float>() + segment.offset,
                      .bytes = segment.count * sizeof(float)};
  };
  // The values at the end of a step.
  std::vector<std::vector<float>> expected;
  const auto whole = train_a_step(*reference, {.at_the_end = [&](Executor& executor) {
    for (std::size_t i = 0; i < executor.segments().size(); ++i) {
      const TensorView gradient = gradient_of(executor, i);
      const auto* begin = gradient.as<const float>();
      expected.emplace_back(begin, begin + executor.segments()[i].count);
    }
  }});
  for (const FarSchedule& schedule : far_schedules()) {
    const auto far = make_far(schedule);
    announced.clear();
    std::vector<std::vector<float>> seen(expected.size());
    const auto actual = train_a_step(
        *far, {.gradients_final = [&](Executor& executor, std::size_t first, std::size_t last) {
          for (std::size_t i = first; i < last; ++i) {
            announced.push_back(i);
            const TensorView gradient = gradient_of(executor, i);
            seen[i].resize(executor.segments()[i].count);
            executor.stream().download(gradient.data, std::as_writable_bytes(std::span(seen[i])));
            executor.stream().fill(gradient.data, std::byte{0xFF}, gradient.bytes);
          }
        }});
    EXPECT_EQ(seen, expected) << "seed " << schedule.seed;
    for (const auto& [name, values] : actual) {
      if (name.starts_with("gradient of ")) {
        EXPECT_TRUE(
            std::all_of(values.begin(), values.end(), [](float x) { return std::isnan(x); }))
            << name << " was written after it was announced, seed " << schedule.seed;
      } else {
        EXPECT_EQ(values, whole.at(name)) << name << ", seed " << schedule.seed;
      }
    }
    std::vector<std::size_t> all(expected.size());
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(announced, all);
  }
}

std::array<std::byte, 8> bytes_of(std::uint8_t value) {
  std::array<std::byte, 8> bytes{};
  bytes.fill(std::byte{value});
  return bytes;
}

TEST(FarStream, DoesItsWorkInOrderAndOnlyWhenAwaited) {
  const auto far = make_far({.kind = Kind::deferred});
  const auto memory = far->allocate(8);
  const auto stream = far->make_stream();
  auto from = bytes_of(1);
  std::array<std::byte, 8> to{};
  stream->upload(from, memory->data());
  from = bytes_of(2);  // The copy reads the contents at the time of the copy.
  stream->download(memory->data(), to);
  EXPECT_EQ(to, bytes_of(0));
  stream->synchronize();
  EXPECT_EQ(to, bytes_of(2));
}

TEST(FarEvent, IsWaitedForUntilTheDeadlineOrACancel) {
  const auto far = make_far({.kind = Kind::deferred});
  const auto memory = far->allocate(8);
  const auto stream = far->make_stream();
  const auto event = far->make_event();
  EXPECT_TRUE(event->done());
  stream->fill(memory->data(), std::byte{1}, 8);
  stream->record(*event);
  EXPECT_FALSE(event->wait({.deadline = std::chrono::steady_clock::time_point::min()}));
  EXPECT_FALSE(event->wait({.cancelled = [] { return true; }}));
  EXPECT_TRUE(event->wait({}));
  EXPECT_TRUE(event->done());
}

TEST(FarDevice, RefusesMemoryOfTheHost) {
  const auto far = make_far({.kind = Kind::deferred});
  const TensorType type{.dtype = DType::f32, .shape = {2}};
  const Placed place{.type = type, .layout = far->canonical_layout(type)};
  const auto copy = far->make_reorder(place, place);
  const auto memory = far->allocate(8);
  std::array<float, 2> host{};
  const TensorView ours{.data = memory->data(), .bytes = 8};
  const TensorView theirs{.data = host.data(), .bytes = 8};
  const auto stream = far->make_stream();
  EXPECT_THROW(copy->launch(*stream, {&theirs, 1}, {&ours, 1}, nullptr), InternalError);
  EXPECT_THROW(copy->launch(*stream, {&ours, 1}, {&theirs, 1}, nullptr), InternalError);
  EXPECT_THROW(stream->fill(memory->data(), std::byte{1}, 9), InternalError);
}

TEST(FarDeviceDeathTest, EndsAProgramThatTouchesItsMemory) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto far = make_far({.kind = Kind::eager});
  const auto memory = far->allocate(8);
  EXPECT_DEATH(*reinterpret_cast<volatile char*>(memory->data()) = 1, "");
}

}  // namespace
}  // namespace bench
