#include "kernels/runtime/lowering.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "models/base/errors.h"
#include "models/ir/op.h"
#include "models/ops/embedding.h"

namespace bench {
namespace {

class Lowering {
 public:
  Lowering(const Graph& graph, Backend& backend, ChosenGraph chosen, bool pinned)
      : graph_(graph), backend_(backend), chosen_(std::move(chosen)), pinned_(pinned) {
    lowered_.seconds = chosen_.seconds;
    lowered_.choices = std::move(chosen_.choices);
  }

  LoweredGraph run() {
    lowered_.buffer_of.resize(graph_.values().size());
    for (std::size_t v = 0; v < graph_.values().size(); ++v) {
      if (graph_.values()[v].origin != Value::Origin::node) {
        lowered_.buffer_of[v] =
            add_buffer(ValueId{static_cast<std::int32_t>(v)}, chosen_.layouts[v], 0);
      }
    }
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      add_node(n);
      for (const Graph::Pair& pair : graph_.gradients()) {
        if (producer_of(pair.value) == n) {
          deliver_gradient(pair);
        }
      }
    }
    for (const Graph::Pair& pair : graph_.gradients()) {
      if (!producer_of(pair.value)) {
        deliver_gradient(pair);
      }
    }
    add_updates();
    finish_trained();
    return std::move(lowered_);
  }

 private:
  std::size_t add_buffer(ValueId value, const Layout& layout, std::size_t opaque_bytes) {
    const Value& entry = graph_.value(value);
    Buffer buffer{.name = entry.name, .value = value, .type = entry.type, .layout = layout};
    buffer.bytes = entry.type.opaque ? opaque_bytes : backend_.bytes(entry.type, layout);
    const bool original = originals_.insert(value).second;
    if (original && entry.origin == Value::Origin::input) {
      buffer.region = Buffer::Region::input;
    } else if (original && entry.origin == Value::Origin::variable) {
      buffer.region = Buffer::Region::variable;
    }
    lowered_.buffers.push_back(std::move(buffer));
    return lowered_.buffers.size() - 1;
  }

  /// The value's buffer in `layout`; appends a reorder if the buffer does not exist yet.
  std::size_t in_layout(ValueId value, const Layout& layout) {
    const std::size_t own = lowered_.buffer_of[at(value)];
    if (layout == Layout::any() || lowered_.buffers[own].layout == layout) {
      return own;
    }
    // Layout selection never separates them, but pinned choices can.
    if (graph_.type(value).opaque) {
      check(pinned_,
            fmt::format("lowering: {} is read in a different layout from the one it is written in",
                        graph_.value(value).name));
      throw ChoicesError(fmt::format(
          "the choices contradict each other: {} is written in layout {} and read in {}",
          graph_.value(value).name, lowered_.buffers[own].layout.token(), layout.token()));
    }
    const auto [entry, fresh] = copies_.try_emplace({value, layout}, 0);
    if (fresh) {
      const auto cast = cast_variables_.find(value);
      entry->second = add_buffer(value, layout, 0);
      if (cast == cast_variables_.end()) {
        add_reorder(own, entry->second);
      } else {
        add_cast(cast->second, entry->second);
      }
    }
    return entry->second;
  }

  void add_reorder(std::size_t from, std::size_t to) {
    lowered_.steps.push_back(reorder(from, to));
  }

  [[nodiscard]] Step reorder(std::size_t from, std::size_t to) const {
    const Buffer& source = lowered_.buffers[from];
    const Buffer& target = lowered_.buffers[to];
    const Placed source_place{.type = source.type, .layout = source.layout};
    const Placed target_place{.type = target.type, .layout = target.layout};
    const bool cast = source.type.dtype != target.type.dtype;
    const bool copy = source_place == target_place;
    const std::string& read = source.layout.token();
    const std::string& written = target.layout.token();
    const std::string implementation =
        copy   ? fmt::format("{} copied", read)
        : cast ? fmt::format("{} to {} {}", read, name_of(target.type.dtype), written)
               : fmt::format("{} to {}", read, written);
    return {.name = source.name,
            .implementation = implementation,
            .op = copy   ? "copy"
                  : cast ? "cast"
                         : "reorder",
            .inputs = {from},
            .outputs = {to},
            .may_overwrite = {},
            .workspace_bytes = 0,
            .seconds = backend_.reorder_seconds(source.type, source.layout, target.layout),
            .work = {.multiply_adds = 0,
                     .bytes = static_cast<std::int64_t>(source.bytes + target.bytes)},
            .make = [backend = &backend_, source_place, target_place] {
              return backend->make_reorder(source_place, target_place);
            }};
  }

  void add_node(std::size_t index) {
    const Node& node = graph_.nodes()[index];
    const Candidate& candidate = chosen_.candidates[index];
    if (casts_variable(graph_, node)) {
      add_cast_of_variable(node, candidate.outputs[0]);
      return;
    }
    Step step{.name = node.name,
              .implementation = candidate.implementation,
              .op = std::string(node.op->name),
              .attributes = node.attributes,
              .inputs = {},
              .outputs = {},
              .may_overwrite = candidate.may_overwrite,
              .workspace_bytes = candidate.workspace_bytes,
              .launches = candidate.launches,
              .idle_in_place = candidate.idle_in_place,
              .seconds = candidate.seconds,
              .work = work_of(graph_, node),
              .make = candidate.make};
    step.work.bytes += candidate.intermediate_bytes;
    if (candidate.multiply_adds) {
      step.work.avoidable_multiply_adds = std::max(
          step.work.avoidable_multiply_adds, step.work.multiply_adds - *candidate.multiply_adds);
    }
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      step.inputs.push_back(in_layout(node.inputs[i], candidate.inputs[i]));
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const std::size_t opaque = candidate.opaque_bytes.empty() ? 0 : candidate.opaque_bytes[i];
      const std::size_t buffer = add_buffer(node.outputs[i], candidate.outputs[i], opaque);
      lowered_.buffer_of[at(node.outputs[i])] = buffer;
      step.outputs.push_back(buffer);
    }
    lowered_.steps.push_back(std::move(step));
  }

  void add_cast_of_variable(const Node& node, const Layout& layout) {
    const ValueId value = node.outputs[0];
    const std::size_t variable = lowered_.buffer_of[at(node.inputs[0])];
    const std::size_t buffer = add_buffer(value, layout, 0);
    cast_variables_.emplace(value, variable);
    lowered_.buffer_of[at(value)] = buffer;
    add_cast(variable, buffer);
  }

  /// Adds the cast of a variable. For a trained one, the optimizer writes the copy, if the backend
  /// knows the copy's order. The optimizer traverses the variable in memory order.
  void add_cast(std::size_t variable, std::size_t copy) {
    const Buffer& from = lowered_.buffers[variable];
    Buffer& to = lowered_.buffers[copy];
    const auto& gradients = graph_.gradients();
    const bool trained = std::any_of(gradients.begin(), gradients.end(),
                                     [&](const auto& pair) { return pair.variable == from.value; });
    const bool whole = from.bytes / size_of(from.type.dtype) == to.bytes / size_of(to.type.dtype);
    const auto order = trained && whole && is_half(to.type.dtype)
                           ? backend_.order_of_copy({.type = from.type, .layout = from.layout},
                                                    {.type = to.type, .layout = to.layout})
                           : std::nullopt;
    if (order) {
      to.region = Buffer::Region::copy;
      copies_of_trained_[variable].push_back({.buffer = copy, .order = *order});
      lowered_.refreshes.push_back(reorder(variable, copy));
    } else {
      add_reorder(variable, copy);
    }
  }

  [[nodiscard]] std::optional<std::size_t> producer_of(ValueId value) const {
    const Value& entry = graph_.value(value);
    if (entry.origin != Value::Origin::node) {
      return std::nullopt;
    }
    return static_cast<std::size_t>(entry.producer);
  }

  /// Delivers a gradient to a separate buffer in its variable's layout, directly after the node
  /// that computes it. A gradient that is a graph input or is wanted twice is copied.
  void deliver_gradient(const Graph::Pair& pair) {
    const std::size_t home = lowered_.buffer_of[at(pair.variable)];
    std::size_t buffer = in_layout(pair.value, lowered_.buffers[home].layout);
    if (lowered_.buffers[buffer].region != Buffer::Region::activation) {
      const std::size_t own = add_buffer(pair.value, lowered_.buffers[home].layout, 0);
      add_reorder(buffer, own);
      buffer = own;
    }
    lowered_.buffers[buffer].region = Buffer::Region::gradient;
    lowered_.trained.push_back({.variable = home,
                                .gradient = buffer,
                                .decayed = graph_.find_variable(pair.variable)->decayed()});
  }

  /// Finds the last step that accesses each gradient, and sorts them by it; records which variables
  /// have copies.
  void finish_trained() {
    std::vector<std::size_t> last(lowered_.buffers.size(), 0);
    for (std::size_t s = 0; s < lowered_.steps.size(); ++s) {
      for (const auto* buffers : {&lowered_.steps[s].inputs, &lowered_.steps[s].outputs}) {
        for (const std::size_t buffer : *buffers) {
          last[buffer] = s;
        }
      }
    }
    for (LoweredGraph::Trained& trained : lowered_.trained) {
      trained.final_step = last[trained.gradient];
      trained.copies = copies_of_trained_[trained.variable];
    }
    find_sparse();
    std::stable_sort(lowered_.trained.begin(), lowered_.trained.end(),
                     [](const auto& a, const auto& b) {
                       return std::pair(a.sparse_step.has_value(), a.final_step) <
                              std::pair(b.sparse_step.has_value(), b.final_step);
                     });
  }

  /// Finds the steps that write sparse gradients.
  void find_sparse() {
    for (std::size_t s = 0; s < lowered_.steps.size(); ++s) {
      const Step& step = lowered_.steps[s];
      if (step.op != kEmbeddingBackward.name ||
          !step.attributes.as<EmbeddingBackwardAttributes>().sparse) {
        continue;
      }
      const auto written =
          std::ranges::find(lowered_.trained, step.outputs[0], &LoweredGraph::Trained::gradient);
      check(written != lowered_.trained.end() &&
                std::ranges::all_of(written->copies,
                                    [](const auto& copy) { return copy.order.same(); }),
            fmt::format("lowering: {} cannot write a sparse gradient", step.name));
      written->sparse_step = s;
    }
  }

  /// A new value shares its variable's memory if the kernel can overwrite it and nothing reads the
  /// old one later. Otherwise it is copied at the end.
  void add_updates() {
    for (const auto& [variable, value] : graph_.updates()) {
      const std::size_t home = lowered_.buffer_of[at(variable)];
      const std::size_t fresh = lowered_.buffer_of[at(value)];
      if (!write_through(home, fresh)) {
        add_reorder(fresh, home);
      }
    }
  }

  bool write_through(std::size_t home, std::size_t fresh) {
    const auto writes = [&](const Step& step) {
      return std::find(step.outputs.begin(), step.outputs.end(), fresh) != step.outputs.end();
    };
    const auto producer = std::find_if(lowered_.steps.begin(), lowered_.steps.end(), writes);
    if (producer == lowered_.steps.end() ||
        lowered_.buffers[home].layout != lowered_.buffers[fresh].layout) {
      return false;
    }
    const bool allowed = std::any_of(
        producer->may_overwrite.begin(), producer->may_overwrite.end(), [&](const auto& o) {
          return producer->outputs[o.output] == fresh && producer->inputs[o.input] == home;
        });
    const bool read_elsewhere =
        std::any_of(producer + 1, lowered_.steps.end(), [&](const Step& step) {
          return std::any_of(step.inputs.begin(), step.inputs.end(),
                             [&](std::size_t b) { return b == home || b == fresh; });
        });
    if (!allowed || read_elsewhere) {
      return false;
    }
    std::replace(producer->outputs.begin(), producer->outputs.end(), fresh, home);
    lowered_.buffers[fresh].bytes = 0;
    lowered_.buffer_of[at(lowered_.buffers[fresh].value)] = home;
    return true;
  }

  const Graph& graph_;
  Backend& backend_;
  ChosenGraph chosen_;
  bool pinned_;
  LoweredGraph lowered_;
  std::set<ValueId> originals_;
  std::map<std::pair<ValueId, Layout>, std::size_t> copies_;
  /// The variable's buffer for each cast of a variable.
  std::map<ValueId, std::size_t> cast_variables_;
  /// The copies that the optimizer refreshes, by the variable's buffer.
  std::map<std::size_t, std::vector<LoweredGraph::Trained::Copy>> copies_of_trained_;
};

}  // namespace

int launches_of(const LoweredGraph& lowered) {
  return std::accumulate(lowered.steps.begin(), lowered.steps.end(), 0,
                         [](int sum, const Step& step) { return sum + step.launches; });
}

LoweredGraph lower(const Graph& graph, Backend& backend, const LoweringOptions& options) {
  return Lowering(graph, backend, choose(graph, backend, options), options.pinned != nullptr).run();
}

}  // namespace bench
