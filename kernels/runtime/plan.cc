#include "kernels/runtime/plan.h"

#include <algorithm>
#include <utility>

#include "models/base/errors.h"
#include "models/passes/decompose.h"

namespace bench {
namespace {

std::vector<std::size_t> output_buffers(const Graph& graph, const LoweredGraph& lowered) {
  std::vector<std::size_t> buffers;
  for (const auto& [name, id] : graph.outputs()) {
    buffers.push_back(lowered.buffer_of[at(id)]);
  }
  return buffers;
}

/// Bytes of the largest tensor that the host may read or write, in canonical order. Inputs count in
/// their own type, the others in f32 too.
std::size_t largest_canonical(const Graph& graph, const LoweredGraph& lowered, Backend& backend) {
  std::size_t largest = 0;
  const auto consider = [&](TensorType type, DType dtype) {
    type.dtype = dtype;
    largest = std::max(largest, backend.bytes(type, backend.canonical_layout(type)));
  };
  const auto consider_both = [&](const Buffer& buffer) {
    if (!buffer.type.opaque) {
      consider(buffer.type, buffer.type.dtype);
      consider(buffer.type, DType::f32);
    }
  };
  for (const Buffer& buffer : lowered.buffers) {
    if (buffer.region == Buffer::Region::input) {
      consider(buffer.type, buffer.type.dtype);
    } else if (buffer.region != Buffer::Region::activation) {
      consider_both(buffer);
    }
  }
  for (const std::size_t output : output_buffers(graph, lowered)) {
    consider_both(lowered.buffers[output]);
  }
  return largest;
}

Spacing spacing_of(const Backend& backend, std::size_t guard_bytes) {
  return {.alignment = backend.memory_traits().alignment, .guard_bytes = guard_bytes};
}

/// If the first output shares memory with the first input, some steps launch and move nothing.
void leave_out_idle_launches(const MemoryLayout& memory, LoweredGraph& lowered) {
  for (Step& step : lowered.steps) {
    const auto lies_at = [&](std::size_t buffer) {
      return std::pair(lowered.buffers[buffer].region, memory.offsets[buffer]);
    };
    if (step.idle_in_place && lies_at(step.inputs[0]) == lies_at(step.outputs[0])) {
      step.launches = 0;
      step.work = {};
    }
  }
}

}  // namespace

Graph runnable(const Graph& graph, const Backend& backend) {
  return decompose_unsupported(
      graph, [&](const Graph& around, const Node& node) { return backend.supports(around, node); });
}

Plan::Plan(const Graph& original, Backend& backend, const LoweringOptions& options,
           std::size_t guard_bytes)
    : graph(runnable(original, backend)),
      lowered(lower(graph, backend, options)),
      memory(lay_out_memory(lowered, output_buffers(graph, lowered),
                            spacing_of(backend, guard_bytes))) {
  leave_out_idle_launches(memory, lowered);
  if (backend.shares_host_memory()) {
    memory.report.inputs = 0;  // They are the host's.
  } else {
    lay_out_landings(lowered, options.pixels, spacing_of(backend, guard_bytes), memory);
    memory.report.staging = largest_canonical(graph, lowered, backend);
  }
}

DType trained_dtype(const Plan& plan) {
  const auto& trained = plan.lowered.trained;
  return trained.empty() ? DType::f32 : plan.lowered.buffers[trained.front().variable].type.dtype;
}

std::vector<OptimizerSegment> optimizer_segments(const Plan& plan) {
  const DType dtype = trained_dtype(plan);
  std::vector<OptimizerSegment> segments;
  for (const auto& trained : plan.lowered.trained) {
    const Buffer& variable = plan.lowered.buffers[trained.variable];
    check(variable.type.dtype == dtype, "plan: the trained variables have different types");
    OptimizerSegment& segment = segments.emplace_back();
    segment.offset = plan.memory.offsets[trained.variable] / size_of(dtype);
    segment.count = variable.bytes / size_of(dtype);
    segment.decayed = trained.decayed;
    if (trained.sparse_step) {
      segment.sparse_row = static_cast<std::size_t>(variable.type.shape[1]);
    }
    for (const auto& copy : trained.copies) {
      const DType narrow = plan.lowered.buffers[copy.buffer].type.dtype;
      segment.copies.push_back({.offset = plan.memory.offsets[copy.buffer] / size_of(narrow),
                                .dtype = narrow,
                                .order = copy.order});
    }
  }
  return segments;
}

}  // namespace bench
