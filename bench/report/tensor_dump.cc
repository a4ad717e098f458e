#include "bench/report/tensor_dump.h"

#include <cstring>
#include <deque>
#include <span>

#include "bench/plan/input.h"
#include "models/base/errors.h"

namespace bench {
namespace {

StoredType stored_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return StoredType::f64;
    case DType::f32:
      return StoredType::f32;
    case DType::f16:
      return StoredType::f16;
    case DType::bf16:
      return StoredType::bf16;
    case DType::s32:
      return StoredType::i32;
    case DType::u8:
    case DType::s8:
      break;
  }
  throw InternalError(fmt::format("tensor files cannot hold {}", name_of(dtype)));
}

/// The tensors of one step and the memory that holds them.
class StepTensors {
 public:
  explicit StepTensors(Executor& executor) : executor_(executor) {}

  void add_output(const std::string& name) {
    const TensorType& type = executor_.graph().type(executor_.graph().output(name));
    add(name, type, executor_.read_output(name));
  }

  /// Adds the sum of two scalar outputs.
  /// The sum of the loss and the L2 term, if there is one.
  void add_total_loss() {
    const Graph& graph = executor_.graph();
    const TensorType& type = graph.type(graph.output("loss"));
    const std::vector<std::byte> loss = executor_.read_output("loss");
    if (!graph.outputs().contains("l2_loss")) {
      add("total_loss", type, loss);
      return;
    }
    const std::vector<std::byte> term = executor_.read_output("l2_loss");
    add("total_loss", type,
        type.dtype == DType::f64 ? sum<double>(loss, term) : sum<float>(loss, term));
  }

  void add_gradients() {
    for (const Graph::Pair& pair : executor_.graph().gradients()) {
      const std::string& variable = executor_.graph().value(pair.variable).name;
      add("grad/" + variable, executor_.graph().type(pair.variable),
          executor_.read_gradient_bytes(variable));
    }
  }

  /// Adds the tower's inputs, those of the first examples of the batch.
  void add_numbers(std::span<const BatchNumbers> numbers, const Tower& tower) {
    for (const BatchNumbers& each : numbers) {
      const TensorType* const type = tower.find_input(each.input);
      if (type == nullptr) {
        continue;
      }
      const auto bytes = each.bytes(0, static_cast<std::size_t>(tower.examples()));
      add(std::string(each.input), {.dtype = each.dtype, .shape = type->shape},
          {bytes.begin(), bytes.end()});
    }
  }

  [[nodiscard]] std::span<const TensorToWrite> tensors() const { return tensors_; }

 private:
  template <class T>
  static std::vector<std::byte> sum(const std::vector<std::byte>& a,
                                    const std::vector<std::byte>& b) {
    check(a.size() == sizeof(T) && b.size() == sizeof(T), "the loss is not a scalar");
    T x{};
    T y{};
    std::memcpy(&x, a.data(), sizeof(T));
    std::memcpy(&y, b.data(), sizeof(T));
    x += y;
    const auto bytes = std::as_bytes(std::span(&x, 1));
    return {bytes.begin(), bytes.end()};
  }

  void add(const std::string& name, const TensorType& type, std::vector<std::byte> data) {
    memory_.push_back(std::move(data));
    tensors_.push_back({.name = name,
                        .type = stored_type(type.dtype),
                        .shape = stored_shape(type.shape),
                        .data = memory_.back()});
  }

  Executor& executor_;
  std::deque<std::vector<std::byte>> memory_;
  std::vector<TensorToWrite> tensors_;
};

}  // namespace

void dump_first_step(const Workload& workload, const RunTensorFiles& files, Tower& tower,
                     const InputBatch& batch, const Watch& watch) {
  feed_examples(tower, batch);
  tower.set_parameters({.number = layer_step(workload, 0)});
  tower.upload_parameters();
  tower.enqueue_run();
  tower.wait();
  tell(watch, 1, 1);
  StepTensors step(tower.executor());
  step.add_numbers(batch.numbers, tower);
  step.add_output("logits");
  if (workload.training()) {
    step.add_output("loss");
    step.add_total_loss();
    step.add_gradients();
  }
  files.write_dump(step.tensors());
}

}  // namespace bench
