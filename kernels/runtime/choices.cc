#include "kernels/runtime/choices.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "kernels/runtime/layout_selection.h"
#include "kernels/runtime/tuned.h"
#include "models/base/errors.h"
#include "models/ir/op.h"

namespace bench {
namespace {

// The cost if a producer and a reader of an opaque value disagree on its layout.
constexpr double kImpossibleSeconds = 1e4;

// The ratio of two estimates above which the slower candidate is not timed.
constexpr double kFarSlower = 10;

/// Numbers layouts in the order in which they are first seen.
class LayoutNumbers {
 public:
  int number(const Layout& layout) {
    const auto [entry, fresh] = numbers_.try_emplace(layout, static_cast<int>(layouts_.size()));
    if (fresh) {
      layouts_.push_back(layout);
    }
    return entry->second;
  }
  [[nodiscard]] const Layout& layout(int number) const {
    return layouts_[static_cast<std::size_t>(number)];
  }

 private:
  std::map<Layout, int> numbers_;
  std::vector<Layout> layouts_;
};

ChoicesError of_another_network(const std::string& name) {
  return ChoicesError(
      fmt::format("the choices are for another network: they have no entry for {}", name));
}

/// Throws ChoicesError for names that the graph does not have.
void check_names(const Choices& pinned, const Graph& graph) {
  std::set<std::string> nodes;
  for (const Node& node : graph.nodes()) {
    nodes.insert(node.name);
  }
  std::set<std::string> held;
  for (const Value& value : graph.values()) {
    if (value.origin != Value::Origin::node) {
      held.insert(value.name);
    }
  }
  const auto check_known = [](const auto& names, const auto& known) {
    for (const auto& [name, choice] : names) {
      if (!known.contains(name)) {
        throw ChoicesError(
            fmt::format("the choices are for another network: this network has no {}", name));
      }
    }
  };
  check_known(pinned.nodes, nodes);
  check_known(pinned.held, held);
}

/// The pinned one of a node's candidates.
Candidate pinned_candidate(const Choices& pinned, const Node& node,
                           std::span<const Candidate> candidates) {
  const auto entry = pinned.nodes.find(node.name);
  if (entry == pinned.nodes.end()) {
    throw of_another_network(node.name);
  }
  const NodeChoice& choice = entry->second;
  if (choice.inputs.size() != node.inputs.size() || choice.outputs.size() != node.outputs.size()) {
    throw ChoicesError(fmt::format(
        "the choices are for another network: they list other inputs or outputs for {}. If they "
        "are older than fused input normalization, use --conv_prologue=false",
        node.name));
  }
  const auto found =
      std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
        return candidate.implementation == choice.implementation &&
               candidate.inputs == choice.inputs && candidate.outputs == choice.outputs;
      });
  if (found == candidates.end()) {
    throw ChoicesError(
        fmt::format("{}: this device or version has no kernel {} for the chosen layouts", node.name,
                    choice.implementation));
  }
  return *found;
}

class Choosing {
 public:
  Choosing(const Graph& graph, Backend& backend, const LoweringOptions& options)
      : graph_(graph), backend_(backend), options_(options), held_(graph.values().size()) {
    const auto nodes = graph.nodes();
    for (const Node& node : nodes) {
      candidates_.push_back(casts_variable(graph, node)
                                ? std::vector<Candidate>()
                                : backend.candidates(graph, node, options.format));
    }
    if (options.deterministic && options.pinned == nullptr) {
      leave_out_nondeterministic();
    }
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      if (casts_variable(graph, nodes[n])) {
        candidates_[n] = cast_candidates(nodes[n]);
      }
    }
    number_layouts();
    find_held_layouts();
    if (options.pinned != nullptr) {
      check_names(*options.pinned, graph);
      for (std::size_t n = 0; n < nodes.size(); ++n) {
        candidates_[n] = {pinned_candidate(*options.pinned, nodes[n], candidates_[n])};
        const Candidate& candidate = candidates_[n].front();
        if (options.deterministic && !candidate.deterministic) {
          throw ChoicesError(fmt::format("{}: the chosen kernel, {}, is not deterministic",
                                         nodes[n].name, candidate.implementation));
        }
      }
      pin_held_layouts(*options.pinned);
    }
  }

  ChosenGraph run() {
    const LayoutChoice choice = select_layouts(make_problem());
    ChosenGraph result{.candidates = {}, .layouts = {}, .seconds = choice.seconds, .choices = {}};
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      const Node& node = graph_.nodes()[n];
      const auto estimated = static_cast<std::size_t>(choice.chosen[n]);
      const Candidate& candidate =
          candidates_[n][tuned(options_.tuner, graph_, node, candidates_[n], estimated)];
      const bool fresh =
          result.choices.nodes
              .try_emplace(node.name, NodeChoice{candidate.implementation, candidate.inputs,
                                                 candidate.outputs})
              .second;
      check(fresh, fmt::format("lowering: two nodes are named {}", node.name));
      result.candidates.push_back(candidate);
    }
    for (std::size_t v = 0; v < graph_.values().size(); ++v) {
      result.layouts.push_back(numbers_.layout(choice.layout_of[v]));
      if (graph_.values()[v].origin != Value::Origin::node) {
        result.choices.held[graph_.values()[v].name] = result.layouts.back();
      }
    }
    return result;
  }

 private:
  /// Runs before layouts are numbered: a layout that only such candidates have is not numbered.
  void leave_out_nondeterministic() {
    for (std::size_t n = 0; n < candidates_.size(); ++n) {
      const bool any = !candidates_[n].empty();
      std::erase_if(candidates_[n], [](const Candidate& c) { return !c.deterministic; });
      if (any && candidates_[n].empty()) {
        const Node& node = graph_.nodes()[n];
        throw UsageError(fmt::format("{}: {} has no deterministic kernel for {}", node.name,
                                     backend_.name(), node.op->name));
      }
    }
  }

  /// In the order of the candidates, which determines where the search begins.
  void number_layouts() {
    for (const std::vector<Candidate>& candidates : candidates_) {
      for (const Candidate& candidate : candidates) {
        for (const auto& layouts : {candidate.inputs, candidate.outputs}) {
          for (const Layout& layout : layouts) {
            if (layout != Layout::any()) {
              numbers_.number(layout);
            }
          }
        }
      }
    }
  }

  /// The layouts that values without a producer may have.
  void find_held_layouts() {
    for (const ValueId id : graph_.inputs()) {
      for (const Layout& layout : backend_.input_layouts(graph_.type(id), options_.format)) {
        held_[at(id)].push_back(numbers_.number(layout));
      }
    }
    for (const Variable& variable : graph_.variables()) {
      held_[at(variable.value)] = wanted_layouts(variable.value);
    }
  }

  void pin_held_layouts(const Choices& pinned) {
    for (std::size_t v = 0; v < held_.size(); ++v) {
      const Value& value = graph_.values()[v];
      if (value.origin == Value::Origin::node) {
        continue;
      }
      const auto entry = pinned.held.find(value.name);
      if (entry == pinned.held.end()) {
        throw of_another_network(value.name);
      }
      const int number = numbers_.number(entry->second);
      if (std::find(held_[v].begin(), held_[v].end(), number) == held_[v].end()) {
        throw ChoicesError(
            fmt::format("{}: no kernel of this device or version reads it in the chosen layout, {}",
                        value.name, entry->second.token()));
      }
      held_[v] = {number};
    }
  }

  /// One for each layout in which a reader wants the result.
  std::vector<Candidate> cast_candidates(const Node& node) {
    const TensorType& type = graph_.type(node.outputs[0]);
    std::vector<Candidate> candidates;
    for (const int number : wanted_layouts(node.outputs[0])) {
      Candidate& candidate = candidates.emplace_back();
      candidate.inputs = {Layout::any()};
      candidate.outputs = {numbers_.layout(number)};
      candidate.seconds =
          backend_.reorder_seconds(type, backend_.canonical_layout(type), candidate.outputs[0]);
    }
    return candidates;
  }

  LayoutProblem make_problem() {
    LayoutProblem problem;
    problem.values.resize(graph_.values().size());
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      const Node& node = graph_.nodes()[n];
      LayoutProblem::Node& entry = problem.nodes.emplace_back();
      std::transform(node.inputs.begin(), node.inputs.end(), std::back_inserter(entry.inputs),
                     [](ValueId id) { return id.index; });
      std::transform(node.outputs.begin(), node.outputs.end(), std::back_inserter(entry.outputs),
                     [](ValueId id) { return id.index; });
      const std::vector<double> costs = costs_of(n);
      for (std::size_t i = 0; i < costs.size(); ++i) {
        const Candidate& candidate = candidates_[n][i];
        LayoutProblem::Choice& option = entry.choices.emplace_back();
        option.seconds = costs[i];
        const auto number = [&](const Layout& layout) {
          return layout == Layout::any() ? LayoutProblem::kAny : numbers_.number(layout);
        };
        std::transform(candidate.inputs.begin(), candidate.inputs.end(),
                       std::back_inserter(option.inputs), number);
        std::transform(candidate.outputs.begin(), candidate.outputs.end(),
                       std::back_inserter(option.outputs), number);
      }
    }
    for (std::size_t v = 0; v < held_.size(); ++v) {
      problem.values[v].free_layouts = held_[v];
    }
    for (const auto& [variable, gradient] : graph_.gradients()) {
      problem.values[at(gradient)].deliver_as = variable.index;
    }
    problem.starts = activation_layouts();
    problem.thorough = times_layouts();
    problem.reorder_seconds = [&](int value, int from, int to) {
      return reorder_seconds(ValueId{value}, from, to);
    };
    return problem;
  }

  [[nodiscard]] bool times_layouts() const {
    return options_.pinned == nullptr && options_.tuner.seconds != nullptr &&
           options_.tuner.reorder_seconds != nullptr;
  }

  /// The costs of a node's candidates, for the choice of layouts. A lone candidate, and candidates
  /// of which none can be timed, have their estimates.
  std::vector<double> costs_of(std::size_t n) {
    const Node& node = graph_.nodes()[n];
    std::vector<double> costs;
    for (const Candidate& candidate : candidates_[n]) {
      costs.push_back(candidate.seconds);
    }
    if (!times_layouts() || costs.size() < 2 || casts_variable(graph_, node) ||
        reads_opaque(graph_, node)) {
      return costs;
    }
    const auto best =
        static_cast<std::size_t>(std::min_element(costs.begin(), costs.end()) - costs.begin());
    const double estimate = costs[best];
    const std::optional<double> time = options_.tuner.seconds(graph_, node, candidates_[n][best]);
    std::vector<double> timed(costs.size(), kImpossibleSeconds);
    bool any = false;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      if (time && costs[i] > kFarSlower * estimate) {
        // Not worth the time: its estimate, on the scale of the measurement.
        timed[i] = *time * costs[i] / estimate;
      } else if (const auto own = options_.tuner.seconds(graph_, node, candidates_[n][i])) {
        timed[i] = *own;
        any = true;
      }
    }
    return any ? timed : costs;
  }

  /// Estimated if it cannot be timed, such as for lack of memory.
  double reorder_seconds(ValueId value, int from, int to) {
    const TensorType& type = graph_.type(value);
    if (type.opaque) {
      return kImpossibleSeconds;
    }
    const auto [entry, fresh] = reorders_.try_emplace({value, from, to}, 0);
    if (fresh) {
      const Layout& source = numbers_.layout(from);
      const Layout& target = numbers_.layout(to);
      const auto timed =
          times_layouts() ? options_.tuner.reorder_seconds(type, source, target) : std::nullopt;
      entry->second = timed ? *timed : backend_.reorder_seconds(type, source, target);
    }
    return entry->second;
  }

  /// The layouts that any candidate gives its first output, except filters and their gradients. The
  /// search for the cheapest graph starts from them.
  std::vector<int> activation_layouts() {
    std::set<int> layouts;
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      const ValueId output = graph_.nodes()[n].outputs[0];
      const auto gradients = graph_.gradients();
      const bool of_variable =
          casts_variable(graph_, graph_.nodes()[n]) ||
          std::any_of(gradients.begin(), gradients.end(),
                      [&](const Graph::Pair& pair) { return pair.value == output; });
      for (const Candidate& candidate : candidates_[n]) {
        if (!of_variable) {
          layouts.insert(numbers_.number(candidate.outputs[0]));
        }
      }
    }
    return {layouts.begin(), layouts.end()};
  }

  /// The layouts in which any candidate would read a value. If none cares, those in which its
  /// gradient is computed, or the canonical one.
  std::vector<int> wanted_layouts(ValueId value) {
    std::vector<int> layouts;
    const auto want = [&](const Layout& layout) {
      const int number = numbers_.number(layout);
      if (std::find(layouts.begin(), layouts.end(), number) == layouts.end()) {
        layouts.push_back(number);
      }
    };
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      const auto& inputs = graph_.nodes()[n].inputs;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i] != value) {
          continue;
        }
        for (const Candidate& candidate : candidates_[n]) {
          if (candidate.inputs[i] != Layout::any()) {
            want(candidate.inputs[i]);
          }
        }
      }
    }
    if (layouts.empty()) {
      for (const auto& [variable, gradient] : graph_.gradients()) {
        const Value& made = graph_.value(gradient);
        if (variable == value && made.origin == Value::Origin::node) {
          for (const Candidate& candidate : candidates_[static_cast<std::size_t>(made.producer)]) {
            want(candidate.outputs[static_cast<std::size_t>(made.position)]);
          }
        }
      }
    }
    if (layouts.empty()) {
      want(backend_.canonical_layout(graph_.type(value)));
    }
    return layouts;
  }

  const Graph& graph_;
  Backend& backend_;
  const LoweringOptions& options_;
  std::vector<std::vector<Candidate>> candidates_;
  LayoutNumbers numbers_;
  /// Indexed by value, for those without a producer.
  std::vector<std::vector<int>> held_;
  std::map<std::tuple<ValueId, int, int>, double> reorders_;
};

}  // namespace

bool casts_variable(const Graph& graph, const Node& node) {
  return node.op->converts && graph.value(node.inputs[0]).origin == Value::Origin::variable;
}

ChosenGraph choose(const Graph& graph, Backend& backend, const LoweringOptions& options) {
  return Choosing(graph, backend, options).run();
}

}  // namespace bench
