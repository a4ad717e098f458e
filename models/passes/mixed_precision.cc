#include "models/passes/mixed_precision.h"

#include <map>
#include <utility>

#include "models/base/errors.h"
#include "models/ir/op.h"
#include "models/ops/cast.h"
#include "models/passes/rewrite.h"

namespace bench {
namespace {

/// Casts of values, each made once.
class Casts {
 public:
  ValueId to(Graph& graph, ValueId value, DType dtype) {
    const auto [entry, fresh] = made_.try_emplace({value, dtype});
    if (fresh) {
      entry->second =
          graph.add_node(kCast, fmt::format("{}/{}", graph.value(value).name, name_of(dtype)),
                         CastAttributes{dtype}, {value})[0];
    }
    return entry->second;
  }

 private:
  std::map<std::pair<ValueId, DType>, ValueId> made_;
};

}  // namespace

bool is_narrowed(const TensorType& type) {
  return !type.opaque && type.dtype == DType::f32 && type.shape.rank() >= 2;
}

Graph mixed_precision(const Graph& graph, DType dtype, Weights16 weights) {
  check(is_half(dtype), fmt::format("mixed precision: {} is not a 16-bit type", name_of(dtype)));
  check(graph.gradients().empty(), "mixed precision: this pass must run before the backward pass");
  Casts casts;
  Graph result = rewrite(
      graph,
      [&](Graph& out, const Node& node) {
        if (node.op->keeps_width) {
          return append(out, node);
        }
        Node typed = node;
        const bool wide = !node.op->computes_in_16_bits;
        for (ValueId& input : typed.inputs) {
          const TensorType type = out.type(input);
          if (wide && is_half(type.dtype)) {
            input = casts.to(out, input, DType::f32);
          } else if (!wide && is_narrowed(type)) {
            input = casts.to(out, input, dtype);
          }
        }
        return append(out, typed);
      },
      [&](const TensorType& type) {
        TensorType stored = type;
        if (weights == Weights16::stored && is_narrowed(type)) {
          stored.dtype = dtype;
        }
        return stored;
      });
  const auto outputs = result.outputs();
  for (const auto& [name, value] : outputs) {
    if (is_half(result.type(value).dtype)) {
      result.set_output(name, casts.to(result, value, DType::f32));
    }
  }
  return result;
}

}  // namespace bench
