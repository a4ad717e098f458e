#include "kernels/runtime/layout_selection.h"

#include <algorithm>
#include <limits>
#include <set>

#include "models/base/errors.h"

namespace bench {
namespace {

constexpr int kMaxSweeps = 20;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

class Selection {
 public:
  explicit Selection(const LayoutProblem& problem)
      : problem_(problem), readers_(problem.values.size()), delivered_(problem.values.size()) {
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
  }

  LayoutChoice from(int layout) {
    choice_.chosen.assign(problem_.nodes.size(), 0);
    choice_.layout_of.assign(problem_.values.size(), 0);
    for (std::size_t v = 0; v < problem_.values.size(); ++v) {
      const auto& free = problem_.values[v].free_layouts;
      if (!free.empty()) {
        const bool offered = std::find(free.begin(), free.end(), layout) != free.end();
        choice_.layout_of[v] = offered ? layout : free[0];
      }
    }
    for (std::size_t n = 0; n < problem_.nodes.size(); ++n) {
      set(n, closest(problem_.nodes[n], layout));
    }
    for (int sweep = 0; sweep < kMaxSweeps && improve(); ++sweep) {
    }
    choice_.seconds = total();
    return choice_;
  }

 private:
  struct Reader {
    std::size_t node;
    std::size_t input;
  };

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

  void set(std::size_t node, int choice) {
    choice_.chosen[node] = choice;
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
  for (const int layout : problem.starts) {
    if (LayoutChoice choice = selection.from(layout); choice.seconds < best.seconds) {
      best = std::move(choice);
    }
  }
  return best;
}

}  // namespace bench
