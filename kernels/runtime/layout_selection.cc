#include "kernels/runtime/layout_selection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "models/base/errors.h"
#include "models/base/philox.h"

namespace bench {
namespace {

constexpr int kMaxSweeps = 20;
constexpr int kMaxSeries = 20;
constexpr int kRandomStarts = 8;
/// The smallest gain, in seconds, that justifies a series of changes. Sums in different orders
/// differ by rounding.
constexpr double kLeastGain = 1e-9;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

class Selection {
 public:
  explicit Selection(const LayoutProblem& problem)
      : problem_(problem),
        readers_(problem.values.size()),
        delivered_(problem.values.size()),
        follows_(problem.values.size(), false) {
    for (std::size_t n = 0; n < problem.nodes.size(); ++n) {
      const auto& inputs = problem.nodes[n].inputs;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        readers_[at(inputs[i])].push_back({.node = n, .input = i});
      }
    }
    for (std::size_t v = 0; v < problem.values.size(); ++v) {
      if (problem.values[v].deliver_as >= 0) {
        delivered_[at(problem.values[v].deliver_as)].push_back(static_cast<int>(v));
      }
    }
    for (std::size_t v = 0; v < problem.values.size(); ++v) {
      follows_[v] = readers_[v].size() == 1 && delivered_[v].empty() &&
                    problem.values[v].deliver_as < 0 && gives_all(problem, v, readers_[v].front());
    }
  }

  /// Starts from a layout; without one, from the fastest candidate of each node.
  LayoutChoice from(std::optional<int> layout) {
    choice_.chosen.assign(problem_.nodes.size(), 0);
    choice_.layout_of.assign(problem_.values.size(), 0);
    for (std::size_t v = 0; v < problem_.values.size(); ++v) {
      const auto& free = problem_.values[v].free_layouts;
      if (!free.empty()) {
        const bool offered = layout && std::find(free.begin(), free.end(), *layout) != free.end();
        choice_.layout_of[v] = offered ? *layout : free[0];
      }
    }
    for (std::size_t n = 0; n < problem_.nodes.size(); ++n) {
      set(n, layout ? closest(problem_.nodes[n], *layout) : fastest(problem_.nodes[n]));
    }
    for (int sweep = 0; sweep < kMaxSweeps && improve(); ++sweep) {
    }
    choice_.seconds = total();
    return choice_;
  }

  /// Decides at random.
  void scatter(RandomStream& random) {
    for (std::size_t d = 0; d < decisions(); ++d) {
      if (const std::vector<int> options = options_of(d); !options.empty()) {
        decide(d, options[random.below(static_cast<std::uint32_t>(options.size()))]);
      }
    }
  }

  /// Improves the last choice by series of changes. One change often costs two reorders, and pays
  /// only after changes of the neighbours.
  LayoutChoice polish() {
    for (int round = 0; round < kMaxSeries && improve_by_series(); ++round) {
    }
    choice_.seconds = total();
    return choice_;
  }

 private:
  struct Reader {
    std::size_t node;
    std::size_t input;
  };

  /// True if the value may have every layout that the choices of its reader want.
  static bool gives_all(const LayoutProblem& problem, std::size_t value, const Reader& reader) {
    const auto& free = problem.values[value].free_layouts;
    const auto& choices = problem.nodes[reader.node].choices;
    return std::all_of(choices.begin(), choices.end(), [&](const auto& choice) {
      return std::find(free.begin(), free.end(), choice.inputs[reader.input]) != free.end();
    });
  }

  static int closest(const LayoutProblem::Node& node, int layout) {
    const auto distance = [&](const LayoutProblem::Choice& choice) {
      const auto differs = [&](int l) { return l != layout && l != LayoutProblem::kAny; };
      return std::count_if(choice.inputs.begin(), choice.inputs.end(), differs) +
             std::count_if(choice.outputs.begin(), choice.outputs.end(), differs);
    };
    const auto best =
        std::min_element(node.choices.begin(), node.choices.end(),
                         [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
    return static_cast<int>(best - node.choices.begin());
  }

  static int fastest(const LayoutProblem::Node& node) {
    const auto best =
        std::min_element(node.choices.begin(), node.choices.end(),
                         [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
    return static_cast<int>(best - node.choices.begin());
  }

  void set(std::size_t node, int choice) {
    choice_.chosen[node] = choice;
    const auto& inputs = problem_.nodes[node].inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (follows_[at(inputs[i])]) {
        choice_.layout_of[at(inputs[i])] = problem_.nodes[node].choices[at(choice)].inputs[i];
      }
    }
    const auto& outputs = problem_.nodes[node].outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      choice_.layout_of[at(outputs[i])] = problem_.nodes[node].choices[at(choice)].outputs[i];
    }
  }

  /// Reorders from a value's layout to all others in which it is wanted.
  [[nodiscard]] double reorders_of(int value) const {
    const int own = choice_.layout_of[at(value)];
    std::set<int> wanted;
    for (const Reader& reader : readers_[at(value)]) {
      const auto& choices = problem_.nodes[reader.node].choices;
      wanted.insert(choices[at(choice_.chosen[reader.node])].inputs[reader.input]);
    }
    if (const int other = problem_.values[at(value)].deliver_as; other >= 0) {
      wanted.insert(choice_.layout_of[at(other)]);
    }
    wanted.erase(own);
    wanted.erase(LayoutProblem::kAny);
    double seconds = 0;
    for (const int layout : wanted) {
      seconds += problem_.reorder_seconds(value, own, layout);
    }
    return seconds;
  }

  [[nodiscard]] double around(std::size_t node) const {
    const auto& n = problem_.nodes[node];
    double seconds = n.choices[at(choice_.chosen[node])].seconds;
    std::set<int> values(n.inputs.begin(), n.inputs.end());
    values.insert(n.outputs.begin(), n.outputs.end());
    for (const int value : values) {
      seconds += reorders_of(value);
    }
    return seconds;
  }

  [[nodiscard]] double around_value(int value) const {
    double seconds = reorders_of(value);
    for (const int gradient : delivered_[at(value)]) {
      seconds += reorders_of(gradient);
    }
    return seconds;
  }

  bool improve() {
    bool improved = false;
    for (std::size_t n = 0; n < problem_.nodes.size(); ++n) {
      const int before = choice_.chosen[n];
      int best = before;
      double least = around(n);
      for (std::size_t c = 0; c < problem_.nodes[n].choices.size(); ++c) {
        set(n, static_cast<int>(c));
        if (const double seconds = around(n); seconds < least) {
          least = seconds;
          best = static_cast<int>(c);
        }
      }
      set(n, best);
      improved = improved || best != before;
    }
    for (std::size_t v = 0; v < problem_.values.size(); ++v) {
      const int before = choice_.layout_of[v];
      int best = before;
      double least = around_value(static_cast<int>(v));
      for (const int layout : problem_.values[v].free_layouts) {
        choice_.layout_of[v] = layout;
        if (const double seconds = around_value(static_cast<int>(v)); seconds < least) {
          least = seconds;
          best = layout;
        }
      }
      choice_.layout_of[v] = best;
      improved = improved || best != before;
    }
    return improved;
  }

  // The decisions: first those of the nodes, then those of the values.
  [[nodiscard]] std::size_t decisions() const {
    return problem_.nodes.size() + problem_.values.size();
  }
  [[nodiscard]] bool of_node(std::size_t decision) const {
    return decision < problem_.nodes.size();
  }
  [[nodiscard]] std::size_t value_of(std::size_t decision) const {
    return decision - problem_.nodes.size();
  }
  [[nodiscard]] int decided(std::size_t decision) const {
    return of_node(decision) ? choice_.chosen[decision] : choice_.layout_of[value_of(decision)];
  }
  void decide(std::size_t decision, int option) {
    if (of_node(decision)) {
      set(decision, option);
    } else {
      choice_.layout_of[value_of(decision)] = option;
    }
  }
  [[nodiscard]] double seconds_around(std::size_t decision) const {
    return of_node(decision) ? around(decision)
                             : around_value(static_cast<int>(value_of(decision)));
  }
  [[nodiscard]] std::vector<int> options_of(std::size_t decision) const {
    if (!of_node(decision)) {
      const std::size_t value = value_of(decision);
      return follows_[value] ? std::vector<int>() : problem_.values[value].free_layouts;
    }
    std::vector<int> options(problem_.nodes[decision].choices.size());
    std::iota(options.begin(), options.end(), 0);
    return options;
  }

  /// The best change of one decision, and the seconds that it adds.
  struct Change {
    int option = 0;
    double seconds = std::numeric_limits<double>::infinity();
  };
  Change best_change(std::size_t decision) {
    Change best;
    const int before = decided(decision);
    const double seconds_before = seconds_around(decision);
    for (const int option : options_of(decision)) {
      if (option == before) {
        continue;
      }
      decide(decision, option);
      const double added = seconds_around(decision) - seconds_before;
      if (added < best.seconds) {
        best = {.option = option, .seconds = added};
      }
    }
    decide(decision, before);
    return best;
  }

  /// The decisions whose cost depends on this one: those that share a value with it.
  [[nodiscard]] std::vector<std::set<std::size_t>> find_neighbours() const {
    std::vector<std::set<std::size_t>> of_value(problem_.values.size());
    for (std::size_t v = 0; v < problem_.values.size(); ++v) {
      of_value[v].insert(problem_.nodes.size() + v);
    }
    for (std::size_t n = 0; n < problem_.nodes.size(); ++n) {
      for (const auto* values : {&problem_.nodes[n].inputs, &problem_.nodes[n].outputs}) {
        for (const int value : *values) {
          of_value[at(value)].insert(n);
        }
      }
    }
    for (std::size_t v = 0; v < problem_.values.size(); ++v) {
      if (const int other = problem_.values[v].deliver_as; other >= 0) {
        of_value[v].insert(of_value[at(other)].begin(), of_value[at(other)].end());
        of_value[at(other)].insert(of_value[v].begin(), of_value[v].end());
      }
    }
    std::vector<std::set<std::size_t>> neighbours(decisions());
    for (const auto& group : of_value) {
      for (const std::size_t one : group) {
        neighbours[one].insert(group.begin(), group.end());
      }
    }
    return neighbours;
  }

  /// Changes every decision once, always the one that costs least next, even if it makes the whole
  /// slower. Then takes back the changes after the best moment. This is the method of Kernighan and
  /// Lin, An efficient heuristic procedure for partitioning graphs, 1970.
  bool improve_by_series() {
    if (neighbours_.empty()) {
      neighbours_ = find_neighbours();
    }
    std::vector<Change> changes(decisions());
    std::vector<bool> done(decisions(), false);
    for (std::size_t d = 0; d < decisions(); ++d) {
      changes[d] = best_change(d);
    }
    std::vector<std::pair<std::size_t, int>> undo;
    double added = 0;
    double least = -kLeastGain;
    std::size_t kept = 0;
    while (true) {
      std::size_t next = decisions();
      for (std::size_t d = 0; d < decisions(); ++d) {
        if (!done[d] && std::isfinite(changes[d].seconds) &&
            (next == decisions() || changes[d].seconds < changes[next].seconds)) {
          next = d;
        }
      }
      if (next == decisions()) {
        break;
      }
      undo.emplace_back(next, decided(next));
      decide(next, changes[next].option);
      done[next] = true;
      added += changes[next].seconds;
      if (added < least) {
        least = added;
        kept = undo.size();
      }
      for (const std::size_t near : neighbours_[next]) {
        if (!done[near]) {
          changes[near] = best_change(near);
        }
      }
    }
    while (undo.size() > kept) {
      decide(undo.back().first, undo.back().second);
      undo.pop_back();
    }
    return kept > 0;
  }

  [[nodiscard]] double total() const {
    double seconds = 0;
    for (std::size_t n = 0; n < problem_.nodes.size(); ++n) {
      seconds += problem_.nodes[n].choices[at(choice_.chosen[n])].seconds;
    }
    for (std::size_t v = 0; v < problem_.values.size(); ++v) {
      seconds += reorders_of(static_cast<int>(v));
    }
    return seconds;
  }

  const LayoutProblem& problem_;
  std::vector<std::vector<Reader>> readers_;
  std::vector<std::vector<int>> delivered_;
  /// True for a value that always has the layout that its only reader wants, such as the filters in
  /// inference. It may have each that the reader could want.
  std::vector<bool> follows_;
  std::vector<std::set<std::size_t>> neighbours_;
  LayoutChoice choice_;
};

}  // namespace

LayoutChoice select_layouts(const LayoutProblem& problem) {
  for (const auto& node : problem.nodes) {
    check(!node.choices.empty(), "layout selection: a node has no candidate");
  }
  Selection selection(problem);
  LayoutChoice best;
  best.seconds = std::numeric_limits<double>::infinity();
  check(!problem.starts.empty(), "layout selection: no starting layout is given");
  const auto keep = [&](LayoutChoice choice) {
    if (choice.seconds < best.seconds) {
      best = std::move(choice);
    }
  };
  const auto try_from = [&](std::optional<int> layout) {
    keep(selection.from(layout));
    if (problem.thorough) {
      keep(selection.polish());
    }
  };
  std::for_each(problem.starts.begin(), problem.starts.end(), try_from);
  if (problem.thorough) {
    try_from(std::nullopt);
    RandomStream random(1, hash_name("layout selection"));
    for (int start = 0; start < kRandomStarts; ++start) {
      selection.scatter(random);
      keep(selection.polish());
    }
  }
  return best;
}

}  // namespace bench
