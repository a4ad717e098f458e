#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/onednn/isa.h"
#include "kernels/onednn/onednn_backend.h"
#include "models/base/half.h"
#include "models/ops/conv2d.h"

namespace bench {
namespace {

/// A convolution with 3x3 filters, which are an input of the graph or do not change.
struct FilteredImages {
  explicit FilteredImages(DType dtype, bool constant)
      : x{.dtype = dtype, .shape = {2, 64, 12, 12}}, w{.dtype = dtype, .shape = {32, 64, 3, 3}} {
    const ValueId images = graph.add_input("x", x);
    const ValueId filters =
        constant ? graph.add_variable("w", w, VariableRole::weight) : graph.add_input("w", w);
    const Window window{.kernel = {3, 3}, .pad_before = {1, 1}, .pad_after = {1, 1}};
    const auto y = graph.add_node(kConv2d, "convolution", Conv2dAttributes{.window = window},
                                  {images, filters});
    result = graph.type(y[0]);
  }
  TensorType x;
  TensorType w;
  TensorType result;
  Graph graph;
};

std::unique_ptr<Backend> one_thread() {
  return make_onednn_backend({.processors = {0}, .pin = false, .max_isa = {}});
}

/// Empty where the processor lacks the instructions.
std::optional<Candidate> winograd_of(Backend& backend, const Graph& graph) {
  const Node& node = graph.nodes().front();
  if (backend.supports(graph, node)) {
    for (Candidate& candidate : backend.candidates(graph, node, DataFormat::automatic)) {
      if (candidate.implementation.starts_with("winograd_4x4:")) {
        return std::move(candidate);
      }
    }
  }
  return std::nullopt;
}

struct HeldTensor {
  HeldTensor(Backend& backend, const TensorType& type, const Layout& layout)
      : bytes(backend.bytes(type, layout)), memory(backend.allocate(bytes)) {}
  [[nodiscard]] TensorView view() const { return {.data = memory->data(), .bytes = bytes}; }

  std::size_t bytes;
  std::unique_ptr<DeviceMemory> memory;
};

/// Whole numbers from -5 to 5 in this layout.
HeldTensor small_numbers(Backend& backend, Stream& stream, const TensorType& type,
                         const Layout& layout) {
  const Layout plain = backend.canonical_layout(type);
  const HeldTensor from(backend, type, plain);
  for (std::int64_t i = 0; i < type.shape.elements(); ++i) {
    const auto number = static_cast<float>(i * 7 % 11 - 5);
    if (type.dtype == DType::bf16) {
      from.view().as<Bfloat16>()[i] = narrow_to_bfloat16(number);
    } else {
      from.view().as<float>()[i] = number;
    }
  }
  HeldTensor to(backend, type, layout);
  const TensorView source = from.view();
  const TensorView target = to.view();
  backend.make_reorder({.type = type, .layout = plain}, {.type = type, .layout = layout})
      ->launch(stream, {&source, 1}, {&target, 1}, nullptr);
  stream.synchronize();
  return to;
}

std::vector<std::byte> result_of(Backend& backend, const FilteredImages& convolution,
                                 const Candidate& candidate) {
  const auto stream = backend.make_stream();
  const HeldTensor x = small_numbers(backend, *stream, convolution.x, candidate.inputs[0]);
  const HeldTensor w = small_numbers(backend, *stream, convolution.w, candidate.inputs[1]);
  const HeldTensor y(backend, convolution.result, candidate.outputs[0]);
  const auto workspace = backend.allocate(candidate.workspace_bytes);
  const std::vector<TensorView> inputs{x.view(), w.view()};
  const std::vector<TensorView> outputs{y.view()};
  candidate.make()->launch(*stream, inputs, outputs, workspace->data());
  stream->synchronize();
  return {y.memory->data(), y.memory->data() + y.bytes};
}

TEST(ConstantWinogradFilters, AreHeldWithTheirTransforms) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const auto backend = one_thread();
    const FilteredImages convolution(dtype, true);
    if (const auto candidate = winograd_of(*backend, convolution.graph)) {
      EXPECT_EQ(backend->bytes(convolution.w, candidate->inputs[1]),
                std::size_t{32} * 64 * (9 * size_of(dtype) + 36 * sizeof(float)))
          << name_of(dtype);
    }
  }
}

TEST(ConstantWinogradFilters, GiveTheSameBitsAsOthers) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    SCOPED_TRACE(name_of(dtype));
    const auto backend = one_thread();
    const FilteredImages constant(dtype, true);
    const FilteredImages varying(dtype, false);
    const auto held = winograd_of(*backend, constant.graph);
    const auto transformed = winograd_of(*backend, varying.graph);
    ASSERT_EQ(held.has_value(), transformed.has_value());
    if (held) {
      EXPECT_NE(held->inputs[1], transformed->inputs[1]);
      const std::vector<std::byte> right = result_of(*backend, varying, *transformed);
      EXPECT_EQ(result_of(*backend, constant, *held), right);
      EXPECT_TRUE(std::ranges::any_of(right, [](std::byte byte) { return byte != std::byte{}; }));
    }
  }
}

}  // namespace
}  // namespace bench
