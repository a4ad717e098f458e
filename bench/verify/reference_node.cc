#include "bench/verify/reference_node.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "kernels/executor.h"
#include "kernels/reference/operations.h"
#include "kernels/reference/reference_backend.h"
#include "kernels/reference/storage.h"
#include "models/base/errors.h"
#include "models/base/philox.h"

namespace bench {
namespace {

using reference::Crew;
using reference::Tensor;

Tensor tensor_of(const Shape& shape, Arena& arena) {
  return {.shape = shape,
          .data = arena.take<double>(static_cast<std::size_t>(shape.elements())).data()};
}

/// With what is floating in f64.
TensorType widened(TensorType type) {
  type.dtype = is_floating(type.dtype) ? DType::f64 : type.dtype;
  return type;
}

}  // namespace

std::span<double> widened(const HostTensor& tensor, const HostThreads& threads, Arena& arena) {
  const auto elements = static_cast<std::size_t>(tensor.type.shape.elements());
  if (tensor.type.dtype == DType::f64) {
    return {static_cast<double*>(static_cast<void*>(tensor.bytes.data())), elements};
  }
  const std::span<double> wide = arena.take<double>(elements);
  const std::size_t size = size_of(tensor.type.dtype);
  Crew(threads, nullptr, 0)
      .for_each_range(tensor.type.shape.elements(), [&](std::int64_t begin, std::int64_t count) {
        const Shape shape{count};
        std::byte* const from = tensor.bytes.data() + static_cast<std::size_t>(begin) * size;
        reference::load({.dtype = tensor.type.dtype, .shape = shape},
                        {.data = from, .bytes = static_cast<std::size_t>(count) * size},
                        {.shape = shape, .data = wide.data() + begin});
      });
  return wide;
}

ReferenceNode::ReferenceNode(const Graph& graph, const NodeInputs& node,
                             const std::vector<const NodeInputs*>& producers,
                             const HostThreads& threads, Arena& arena)
    : threads_(threads), arena_(arena) {
  Graph whole;
  std::map<ValueId, ValueId> opaque;
  const auto append = [&](const NodeInputs& entry) {
    std::vector<ValueId> inputs;
    for (std::size_t i = 0; i < entry.node.inputs.size(); ++i) {
      const ValueId id = entry.node.inputs[i];
      if (graph.type(id).opaque) {
        inputs.push_back(opaque.at(id));
        continue;
      }
      inputs.push_back(
          whole.add_input(fmt::format("in{}", inputs_.size()), widened(entry.inputs[i].type)));
      inputs_.push_back(widened(entry.inputs[i], threads_, arena_));
      positions_.push_back(&entry == &node ? i : 0);
    }
    return whole.add_node(*entry.node.op, entry.node.name, entry.node.attributes, inputs);
  };
  for (const NodeInputs* producer : producers) {
    const std::vector<ValueId> made = append(*producer);
    for (std::size_t i = 0; i < made.size(); ++i) {
      opaque[producer->node.outputs[i]] = made[i];
    }
  }
  const std::vector<ValueId> made = append(node);
  for (std::size_t i = 0; i < made.size(); ++i) {
    const TensorType& type = whole.type(made[i]);
    const bool compared = !type.opaque && type.dtype == DType::f64;
    outputs_.push_back(compared ? fmt::format("out{}", i) : "");
    if (compared) {
      whole.set_output(outputs_.back(), made[i]);
    }
  }
  parts_ = runnable(whole, *make_reference_backend());
}

std::vector<std::span<const double>> ReferenceNode::compute() {
  std::vector<Tensor> tensors(parts_.values().size());
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const ValueId id = parts_.inputs()[i];
    tensors[at(id)] = {.shape = parts_.shape(id), .data = inputs_[i].data()};
  }
  for (const Node& node : parts_.nodes()) {
    std::vector<Tensor> in;
    for (const ValueId id : node.inputs) {
      in.push_back(tensors[at(id)]);
    }
    std::vector<Tensor> out;
    for (const ValueId id : node.outputs) {
      tensors[at(id)] = tensor_of(reference::storage_of(parts_, id).shape, arena_);
      out.push_back(tensors[at(id)]);
    }
    const reference::Operation operation = reference::operation_of(parts_, node);
    const std::span<double> scratch =
        arena_.take<double>(static_cast<std::size_t>(operation.scratch_elements * threads_.count));
    operation.compute(in, out, Crew(threads_, scratch.data(), operation.scratch_elements));
  }
  std::vector<std::span<const double>> results;
  for (const std::string& name : outputs_) {
    if (name.empty()) {
      results.emplace_back();
      continue;
    }
    const Tensor& tensor = tensors[at(parts_.output(name))];
    results.emplace_back(tensor.data, static_cast<std::size_t>(tensor.elements()));
  }
  return results;
}

std::vector<std::span<const double>> ReferenceNode::compute_moved(std::span<const Move> moves) {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const ValueId id = parts_.inputs()[i];
    if (parts_.type(id).dtype != DType::f64) {
      continue;
    }
    const auto [share, step] = moves[positions_[i]];
    const std::span<double> moved = arena_.take<double>(inputs_[i].size());
    RandomStream random(1, hash_name(parts_.value(id).name));
    std::transform(inputs_[i].begin(), inputs_[i].end(), moved.begin(), [&](double value) {
      const double distance = std::abs(value) * share + step;
      return value + ((random.bits() & 1U) != 0 ? distance : -distance);
    });
    inputs_[i] = moved;
  }
  return compute();
}

}  // namespace bench
