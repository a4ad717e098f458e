#include "variable_mgmt/variables.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <span>
#include <thread>

#include "models/base/threads.h"

namespace bench {
namespace {

/// Draws numbers of one variable, starting at `random`. Each takes one word, on which the chunks
/// rely.
void draw(const Initializer& initial, RandomStream random, std::span<float> values) {
  double scale = initial.stddev;
  switch (initial.kind) {
    case Initializer::Kind::constant:
      std::fill(values.begin(), values.end(), static_cast<float>(initial.mean));
      return;
    case Initializer::Kind::normal:
      std::generate(values.begin(), values.end(), [&] { return random.normal(); });
      break;
    case Initializer::Kind::truncated_normal:
      random.truncated_normal(values);
      break;
    case Initializer::Kind::uniform:
      std::generate(values.begin(), values.end(), [&] { return 2 * random.uniform() - 1; });
      scale *= std::sqrt(3.0);
      break;
  }
  for (float& value : values) {
    value = static_cast<float>(initial.mean + scale * value);
  }
}

}  // namespace

InitialValues initial_values(const Graph& graph, std::uint64_t seed, const Watch& watch) {
  struct Chunk {
    const Variable* variable;
    std::size_t first;
  };
  const auto variables = graph.variables();
  const auto name = [&](const Variable& variable) -> const std::string& {
    return graph.value(variable.value).name;
  };
  InitialValues values;
  std::vector<Chunk> chunks;
  for (const Variable& variable : variables) {
    std::vector<float>& all = values[name(variable)];
    all.resize(static_cast<std::size_t>(graph.shape(variable.value).elements()));
    for (std::size_t first = 0; first < all.size(); first += kDrawnAtOnce) {
      chunks.push_back({&variable, first});
    }
  }
  std::atomic<std::size_t> next = 0;
  const auto work = [&](const Watch& between) {
    for (std::size_t i = next++; i < chunks.size(); i = next++) {
      tell(between, static_cast<std::int64_t>(i), static_cast<std::int64_t>(chunks.size()));
      const auto& [variable, first] = chunks[i];
      RandomStream random(seed, hash_name(name(*variable)));
      random.skip_blocks(first / RandomStream::kBlockWords);
      const std::span<float> all = values.at(name(*variable));
      draw(variable->initial, random,
           all.subspan(first, std::min(kDrawnAtOnce, all.size() - first)));
    }
  };
  const std::size_t threads =
      std::min<std::size_t>(std::thread::hardware_concurrency(), chunks.size());
  std::vector<std::jthread> helpers;
  for (std::size_t i = 1; i < threads; ++i) {
    helpers.push_back(start_thread([&work] { work(Watch()); }));
  }
  try {
    work(watch);
  } catch (...) {
    next = chunks.size();  // Stops the helper threads, too.
    throw;
  }
  helpers.clear();
  tell(watch, static_cast<std::int64_t>(chunks.size()), static_cast<std::int64_t>(chunks.size()));
  return values;
}

}  // namespace bench
