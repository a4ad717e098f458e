#include "bench/plan/graph_counts.h"

namespace bench {

VariableCounts count_variables(const Graph& graph) {
  VariableCounts counts;
  for (const Variable& variable : graph.variables()) {
    const std::int64_t scalars = graph.shape(variable.value).elements();
    const auto add = [&](VariableCounts::Count& count) {
      ++count.variables;
      count.scalars += scalars;
    };
    add(counts.all);
    if (variable.trainable()) {
      add(counts.trained);
    }
    if (variable.decayed()) {
      add(counts.decayed);
    }
  }
  return counts;
}

}  // namespace bench
