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

/// Index of a value in its graph; a default one names no value.
struct ValueId {
  std::int32_t index = -1;
  [[nodiscard]] bool valid() const { return index >= 0; }
  auto operator<=>(const ValueId&) const = default;
};

/// The value's place in tables with an entry for each value of a graph.
constexpr std::size_t at(ValueId id) { return static_cast<std::size_t>(id.index); }

/// Element type and logical shape. An opaque value (a mask, pooling indices) has neither: its size
/// is the backend's business.
struct TensorType {
  DType dtype = DType::f32;
  Shape shape;
  bool opaque = false;
  bool operator==(const TensorType&) const = default;
};
std::ostream& operator<<(std::ostream& out, const TensorType& type);

/// How a variable begins: every element `mean`, or drawn around it: normal; normal and cut at two
/// `stddev` (which makes the deviation smaller); or uniform within sqrt(3) * stddev.
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

/// What a network does with a variable.
enum class VariableRole : std::uint8_t {
  /// The filters of a convolution, the matrix of a fully connected layer.
  weight,
  bias,
  /// Batch norm's, by which what is normalised is multiplied, and what is added to it.
  scale,
  shift,
  /// Batch norm's moving statistics.
  mean,
  variance,
  /// What stands for one quantum of another variable, in s8.
  quantum,
};

/// What a graph knows of a variable besides its type.
struct Variable {
  ValueId value;
  VariableRole role = VariableRole::weight;
  Initializer initial;

  /// Whether gradients change it.
  [[nodiscard]] bool trainable() const {
    return decayed() || role == VariableRole::scale || role == VariableRole::shift;
  }
  /// Whether it is part of the L2 sum.
  [[nodiscard]] bool decayed() const {
    return role == VariableRole::weight || role == VariableRole::bias;
  }
};

struct Value {
  enum class Origin : std::uint8_t { input, variable, node };
  std::string name;
  TensorType type;
  Origin origin = Origin::input;
  /// The producing node's index and the output's position there, when the origin is a node.
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

/// A static graph in topological order: nodes may only use values that exist already. Holds no
/// device, no layout. Copies are independent.
class Graph {
 public:
  struct Pair {
    ValueId variable;
    ValueId value;
  };

  ValueId add_input(std::string name, TensorType type);
  ValueId add_variable(std::string name, TensorType type, VariableRole role,
                       Initializer initial = {});
  /// Appends a node; its shape rule gives the outputs' types. Throws UsageError, naming op, axis
  /// and both extents, when the inputs do not fit.
  std::vector<ValueId> add_node(const OpDef& op, std::string name, Attributes attributes,
                                std::vector<ValueId> inputs);

  /// Names a value for whoever runs the graph ("loss", "logits").
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
  /// The output of that name; throws InternalError when there is none.
  [[nodiscard]] ValueId output(const std::string& name) const;
  /// The variable's entry, or nullptr when the value is none.
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

/// One line per input, variable and node, in order: what `--dump=graph` shows.
std::ostream& operator<<(std::ostream& out, const Graph& graph);

/// How often each value is read by nodes, updates, gradients and outputs, indexed by ValueId.
std::vector<int> count_uses(const Graph& graph);

}  // namespace bench
