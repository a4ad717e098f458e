#include "kernels/runtime/tuned.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

namespace bench {
namespace {

bool same_layouts(const Candidate& a, const Candidate& b) {
  return a.inputs == b.inputs && a.outputs == b.outputs;
}

/// Times closer than this are equal: repeated measurements may differ by as much.
constexpr double kTie = 0.02;

/// The candidates with the same layouts as candidate `chosen`, best estimate first.
std::vector<std::size_t> alike(std::span<const Candidate> candidates, std::size_t chosen) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (same_layouts(candidates[i], candidates[chosen])) {
      found.push_back(i);
    }
  }
  std::stable_sort(found.begin(), found.end(), [&](std::size_t a, std::size_t b) {
    return candidates[a].seconds < candidates[b].seconds;
  });
  return found;
}

/// The candidates to time, in the given order by estimate: the first of each way, then the first of
/// the others. There are `most` in total, unless there are more ways.
std::vector<std::size_t> timed(std::span<const Candidate> candidates,
                               const std::vector<std::size_t>& ordered, std::size_t most) {
  std::set<std::string_view> ways;
  for (const std::size_t i : ordered) {
    ways.insert(candidates[i].way);
  }
  std::size_t others = most > ways.size() ? most - ways.size() : 0;
  std::vector<std::size_t> found;
  for (const std::size_t i : ordered) {
    if (ways.erase(candidates[i].way) > 0) {
      found.push_back(i);
    } else if (others > 0) {
      found.push_back(i);
      --others;
    }
  }
  return found;
}

}  // namespace

bool reads_opaque(const Graph& graph, const Node& node) {
  return std::any_of(node.inputs.begin(), node.inputs.end(),
                     [&](ValueId id) { return graph.type(id).opaque; });
}

std::size_t tuned(const Tuner& tuner, const Graph& graph, const Node& node,
                  std::span<const Candidate> candidates, std::size_t chosen) {
  if (!tuner.seconds || reads_opaque(graph, node)) {
    return chosen;
  }
  const std::vector<std::size_t> compared =
      timed(candidates, alike(candidates, chosen), tuner.most);
  if (compared.size() < 2) {
    return chosen;
  }
  std::vector<std::optional<double>> times;
  double least = std::numeric_limits<double>::infinity();
  for (const std::size_t i : compared) {
    times.push_back(tuner.seconds(graph, node, candidates[i]));
    least = std::min(least, times.back().value_or(least));
  }
  for (std::size_t i = 0; i < compared.size(); ++i) {
    if (times[i] && *times[i] <= least * (1 + kTie)) {
      return compared[i];
    }
  }
  // None was timed: at worst, the run ends with the reason why this one cannot be used.
  return chosen;
}

}  // namespace bench
