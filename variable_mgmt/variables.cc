#include "variable_mgmt/variables.h"

#include <atomic>
#include <cmath>
#include <thread>

#include "models/base/philox.h"

namespace bench {
namespace {

/// One number of mean 0 and deviation 1 (before the cut).
double draw(Initializer::Kind kind, RandomStream& random) {
  switch (kind) {
    case Initializer::Kind::constant:
      break;
    case Initializer::Kind::normal:
      return random.normal();
    case Initializer::Kind::truncated_normal:
      return random.truncated_normal();
    case Initializer::Kind::uniform:
      return std::sqrt(3.0) * (2.0 * random.uniform() - 1);
  }
  return 0;
}

}  // namespace

std::vector<float> initial_value(const Graph& graph, const Variable& variable, std::uint64_t seed) {
  const Initializer& initial = variable.initial;
  const auto count = static_cast<std::size_t>(graph.shape(variable.value).elements());
  std::vector<float> values(count, static_cast<float>(initial.mean));
  if (initial.kind == Initializer::Kind::constant) {
    return values;
  }
  RandomStream random(seed, hash_name(graph.value(variable.value).name));
  for (float& value : values) {
    value = static_cast<float>(initial.mean + initial.stddev * draw(initial.kind, random));
  }
  return values;
}

InitialValues initial_values(const Graph& graph, std::uint64_t seed) {
  const auto variables = graph.variables();
  InitialValues values;
  for (const Variable& variable : variables) {
    values[graph.value(variable.value).name];
  }
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < variables.size(); i = next++) {
      values.at(graph.value(variables[i].value).name) = initial_value(graph, variables[i], seed);
    }
  };
  std::vector<std::jthread> helpers;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) {
    helpers.emplace_back(work);
  }
  work();
  helpers.clear();
  return values;
}

}  // namespace bench
