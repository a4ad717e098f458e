#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/dtype.h"
#include "models/base/shape.h"
#include "models/ir/attributes.h"

namespace bench {

struct OpDef;

/// Index of a value in its graph; a default-constructed one refers to no value.
struct ValueId {
  std::int32_t index = -1;
  [[nodiscard]] bool valid() const { return index >= 0; }
  auto operator<=>(const ValueId&) const = default;
};

/// The index into tables that have an entry for each value of a graph.
constexpr std::size_t at(ValueId id) { return static_cast<std::size_t>(id.index); }

/// Element type and logical shape. An opaque value (a mask, pooling indices) has neither; the
/// backend decides its size.
struct TensorType {
  DType dtype = DType::f32;
  Shape shape;
  bool opaque = false;
  bool operator==(const TensorType&) const = default;
};
std::ostream& operator<<(std::ostream& out, const TensorType& type);

/// How a variable is initialised: every element is `mean`, or drawn around it. Distributions:
/// normal; normal truncated at two `stddev` (which makes the deviation smaller); uniform within
/// sqrt(3) * stddev.
struct Initializer {
  enum class Kind : std::uint8_t {
    constant,
    normal,
    truncated_normal,
    uniform
  } kind = Kind::constant;
  double mean = 0;
  double stddev = 0;
};

/// The purpose of a variable in a network.
enum class VariableRole : std::uint8_t {
  /// The filters of a convolution or the matrix of a fully connected layer.
  weight,
  bias,
  /// A bias that is not in the L2 sum.
  undecayed_bias,
  /// Batch norm's gamma, which multiplies what is normalised, and beta, which is added.
  scale,
  shift,
  /// Batch norm's moving statistics.
  mean,
  variance,
  /// The real number that one quantum of another variable represents, in s8.
  quantum,
};

/// What a graph knows about a variable besides its type.
struct Variable {
  ValueId value;
  VariableRole role = VariableRole::weight;
  Initializer initial;

  /// Returns true if training changes it.
  [[nodiscard]] bool trainable() const {
    return decayed() || role == VariableRole::undecayed_bias || role == VariableRole::scale ||
           role == VariableRole::shift;
  }
  /// Returns true if the L2 sum includes it.
  [[nodiscard]] bool decayed() const {
    return role == VariableRole::weight || role == VariableRole::bias;
  }
};

struct Value {
  enum class Origin : std::uint8_t { input, variable, node };
  std::string name;
  TensorType type;
  Origin origin = Origin::input;
  /// If the origin is a node: the index of the producing node, and the output's position there.
  std::int32_t producer = -1;
  std::int32_t position = 0;
};

struct Node {
  std::string name;
  const OpDef* op = nullptr;
  Attributes attributes;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
};

/// A static graph in topological order: nodes may only use values that already exist. It contains
/// no device and no layout. Copies are independent.
class Graph {
 public:
  struct Pair {
    ValueId variable;
    ValueId value;
  };

  ValueId add_input(std::string name, TensorType type);
  ValueId add_variable(std::string name, TensorType type, VariableRole role,
                       Initializer initial = {});
  /// Appends a node; its shape rule gives the types of the outputs. Throws UsageError with the op,
  /// the axis and both extents if the inputs do not fit.
  std::vector<ValueId> add_node(const OpDef& op, std::string name, Attributes attributes,
                                std::vector<ValueId> inputs);

  /// Names a value, such as "loss" or "logits", for callers that run the graph.
  void set_output(std::string name, ValueId value) { outputs_[std::move(name)] = value; }
  /// After each run `variable` takes the contents of `value`.
  void add_update(ValueId variable, ValueId value) { updates_.push_back({variable, value}); }
  /// `gradient` is the derivative of the loss with respect to `variable`.
  void add_gradient(ValueId variable, ValueId gradient) {
    gradients_.push_back({variable, gradient});
  }

  [[nodiscard]] std::span<const Value> values() const { return values_; }
  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
  [[nodiscard]] std::span<const Variable> variables() const { return variables_; }
  [[nodiscard]] std::span<const ValueId> inputs() const { return inputs_; }
  [[nodiscard]] const std::map<std::string, ValueId>& outputs() const { return outputs_; }
  [[nodiscard]] std::span<const Pair> updates() const { return updates_; }
  [[nodiscard]] std::span<const Pair> gradients() const { return gradients_; }

  [[nodiscard]] const Value& value(ValueId id) const;
  [[nodiscard]] const TensorType& type(ValueId id) const { return value(id).type; }
  [[nodiscard]] const Shape& shape(ValueId id) const { return value(id).type.shape; }
  /// The output with that name; throws InternalError if it does not exist.
  [[nodiscard]] ValueId output(const std::string& name) const;
  /// The variable's entry, or nullptr if the value is not a variable.
  [[nodiscard]] const Variable* find_variable(ValueId id) const;

 private:
  ValueId add_value(Value value);

  std::vector<Value> values_;
  std::vector<Node> nodes_;
  std::vector<Variable> variables_;
  std::vector<ValueId> inputs_;
  std::map<std::string, ValueId> outputs_;
  std::vector<Pair> updates_;
  std::vector<Pair> gradients_;
};

/// One line per input, variable and node, in order: the output of `--dump=graph`.
std::ostream& operator<<(std::ostream& out, const Graph& graph);

/// How often each value is read by nodes, updates, gradients and outputs, indexed by ValueId.
std::vector<int> count_uses(const Graph& graph);

}  // namespace bench
