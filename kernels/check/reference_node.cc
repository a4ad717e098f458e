#include "kernels/check/reference_node.h"

#include <algorithm>
#include <map>

#include "kernels/executor.h"
#include "kernels/forwarding_backend.h"
#include "kernels/reference/reference_backend.h"
#include "models/base/errors.h"
#include "models/base/philox.h"

namespace bench {
namespace {

using Blocks = std::multimap<std::size_t, std::unique_ptr<DeviceMemory>>;

/// A block that goes back to where it came from.
class KeptMemory final : public DeviceMemory {
 public:
  KeptMemory(Blocks& free, std::size_t bytes, std::unique_ptr<DeviceMemory> block)
      : free_(free), bytes_(bytes), block_(std::move(block)) {}
  ~KeptMemory() override { free_.emplace(bytes_, std::move(block_)); }
  KeptMemory(const KeptMemory&) = delete;
  KeptMemory& operator=(const KeptMemory&) = delete;
  [[nodiscard]] std::byte* data() const override { return block_->data(); }

 private:
  Blocks& free_;
  std::size_t bytes_;
  std::unique_ptr<DeviceMemory> block_;
};

class KeepingReference final : public ForwardingBackend {
 public:
  KeepingReference() : KeepingReference(make_reference_backend()) {}

  /// What the reference writes before it reads needs no zeros.
  std::unique_ptr<DeviceMemory> allocate(std::size_t bytes) override {
    const auto found = free_.lower_bound(bytes);
    if (found == free_.end()) {
      free_.clear();  // All are too small.
      return std::make_unique<KeptMemory>(free_, bytes, ForwardingBackend::allocate(bytes));
    }
    const std::size_t size = found->first;
    std::unique_ptr<DeviceMemory> block = std::move(found->second);
    free_.erase(found);
    return std::make_unique<KeptMemory>(free_, size, std::move(block));
  }

 private:
  explicit KeepingReference(std::unique_ptr<Backend> owned)
      : ForwardingBackend(*owned), owned_(std::move(owned)) {}

  std::unique_ptr<Backend> owned_;
  Blocks free_;
};

HostTensor shaken(const HostTensor& tensor, const std::string& name, double share) {
  HostTensor result = tensor;
  if (tensor.type.dtype == DType::f64) {
    RandomStream random(1, hash_name(name));
    for (double& value : doubles_of(result)) {
      value *= 1 + ((random.bits() & 1U) != 0 ? share : -share);
    }
  }
  return result;
}

}  // namespace

std::unique_ptr<Backend> make_keeping_reference() { return std::make_unique<KeepingReference>(); }

ReferenceNode::ReferenceNode(Backend& reference, const Graph& graph, const NodeInputs& node,
                             const std::vector<const NodeInputs*>& producers)
    : reference_(reference) {
  std::map<ValueId, ValueId> opaque;
  const auto append = [&](const NodeInputs& entry) {
    std::vector<ValueId> inputs;
    for (std::size_t i = 0; i < entry.node.inputs.size(); ++i) {
      const ValueId id = entry.node.inputs[i];
      if (graph.type(id).opaque) {
        inputs.push_back(opaque.at(id));
        continue;
      }
      const std::string name = cat("in", inputs_.size());
      inputs_.emplace_back(name, &entry.inputs[i]);
      inputs.push_back(single_.add_input(name, entry.inputs[i].type));
    }
    return single_.add_node(*entry.node.op, entry.node.name, entry.node.attributes, inputs);
  };
  for (const NodeInputs* producer : producers) {
    const std::vector<ValueId> made = append(*producer);
    for (std::size_t i = 0; i < made.size(); ++i) {
      opaque[producer->node.outputs[i]] = made[i];
    }
  }
  const std::vector<ValueId> made = append(node);
  for (std::size_t i = 0; i < made.size(); ++i) {
    const TensorType& type = single_.type(made[i]);
    const bool compared = !type.opaque && type.dtype == DType::f64;
    outputs_.push_back(compared ? cat("out", i) : "");
    if (compared) {
      single_.set_output(outputs_.back(), made[i]);
    }
  }
}

std::vector<HostTensor> ReferenceNode::compute(double moved) const {
  const auto stream = reference_.make_stream();
  Executor executor(single_, reference_, {});
  for (const auto& [name, tensor] : inputs_) {
    executor.write_input(name, moved == 0 ? tensor->bytes : shaken(*tensor, name, moved).bytes);
  }
  executor.run(*stream);
  const Graph& graph = executor.graph();
  std::vector<HostTensor> results;
  for (const std::string& name : outputs_) {
    HostTensor& result = results.emplace_back();
    if (name.empty()) {
      continue;
    }
    const Value& value = graph.value(graph.output(name));
    result.type = value.type;
    if (value.origin == Value::Origin::node) {
      result.bytes = executor.read_output(name);
    } else {  // Taken apart, nothing was left of the node.
      const auto input = std::find_if(inputs_.begin(), inputs_.end(),
                                      [&](const auto& entry) { return entry.first == value.name; });
      result.bytes = input->second->bytes;
    }
  }
  return results;
}

}  // namespace bench
