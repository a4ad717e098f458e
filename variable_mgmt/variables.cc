#include "variable_mgmt/variables.h"

#include "models/base/philox.h"

namespace bench {

std::vector<float> initial_value(const Graph& graph, const Variable& variable,
                                 std::uint64_t seed) {
  const Initializer& initial = variable.initial;
  const auto count = static_cast<std::size_t>(graph.shape(variable.value).elements());
  std::vector<float> values(count, static_cast<float>(initial.mean));
  if (initial.kind == Initializer::Kind::truncated_normal) {
    RandomStream random(seed, hash_name(graph.value(variable.value).name));
    for (float& value : values) {
      value = static_cast<float>(initial.mean + initial.stddev * random.truncated_normal());
    }
  }
  return values;
}

}  // namespace bench
