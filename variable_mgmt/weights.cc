#include "variable_mgmt/weights.h"

#include <set>

#include "models/base/errors.h"
#include "variable_mgmt/checkpoint/run_state.h"

namespace bench {
namespace {

/// Collects names for one message, which shows the first few.
class NameList {
 public:
  void add(const std::string& text) {
    constexpr std::size_t kShown = 10;
    if (++count_ <= kShown) {
      text_ += count_ == 1 ? "" : ", ";
      text_ += text;
    }
    more_ = count_ > kShown ? fmt::format(" and {} more", count_ - kShown) : "";
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  /// ". TITLE a, b, c and 37 more"; empty without names.
  [[nodiscard]] std::string under(std::string_view title) const {
    return count_ == 0 ? "" : fmt::format(". {} {}", title, text());
  }
  [[nodiscard]] std::string text() const { return text_ + more_; }

 private:
  std::size_t count_ = 0;
  std::string text_;
  std::string more_;
};

/// True for torch's count of the batches that batch norm has seen, which is not used here.
bool is_batch_counter(const std::string& name, const StoredTensor& tensor) {
  return name.ends_with("num_batches_tracked") && tensor.type == StoredType::i64 &&
         tensor.elements() == 1;
}

/// Why the tensor does not fit the variable; empty if it fits.
std::string misfit(const StoredTensor& tensor, const Shape& shape) {
  if (!is_floating(tensor.type)) {
    return fmt::format("has type {}", name_of(tensor.type));
  }
  const std::vector<std::int64_t> wanted = stored_shape(shape);
  return tensor.shape == wanted
             ? ""
             : fmt::format("has shape {}, not {}", shape_text(tensor.shape), shape_text(wanted));
}

}  // namespace

std::vector<std::int64_t> stored_shape(const Shape& shape) {
  return {shape.extents().begin(), shape.extents().end()};
}

LoadPlan plan_load(const TensorFile& file, const Graph& graph, LoadMode mode) {
  LoadPlan plan;
  NameList missing;
  NameList extra;
  NameList misshapen;
  std::set<std::string> known;
  for (const Variable& variable : graph.variables()) {
    const std::string& name = graph.value(variable.value).name;
    known.insert(name);
    const StoredTensor* tensor = file.find(name);
    if (tensor == nullptr) {
      missing.add(name);
      continue;
    }
    if (const std::string why = misfit(*tensor, graph.shape(variable.value)); !why.empty()) {
      misshapen.add(fmt::format("{} {}", name, why));
    } else {
      plan.names.push_back(name);
    }
  }
  for (const auto& [name, tensor] : file.tensors()) {
    if (!known.contains(name) && !is_batch_counter(name, tensor) &&
        !name.starts_with(kRunStatePrefix)) {
      extra.add(quoted_name(name));
    }
  }
  const bool fits = misshapen.count() + missing.count() + extra.count() == 0;
  if (mode == LoadMode::complete && !fits) {
    const std::string differences = misshapen.under("The shape or type differs:") +
                                    missing.under("The file lacks") +
                                    extra.under("The network has no");
    if (plan.names.empty()) {
      throw UsageError(fmt::format("{} does not fit this network{}", file.name(), differences));
    }
    throw UsageError(
        fmt::format("{} does not fit this network{}. Use --init_from_partial to load what fits",
                    file.name(), differences));
  }
  if (plan.names.empty()) {
    throw UsageError(fmt::format("{} has no variable of this network{}{}{}", file.name(),
                                 misshapen.under("The shape or type differs:"),
                                 missing.under("The network has"), extra.under("The file has")));
  }
  plan.missing = missing.count();
  plan.extra = extra.count();
  plan.misshapen = misshapen.count();
  plan.misfits = misshapen.text();
  return plan;
}

void load_variables(const TensorFile& file, const LoadPlan& plan, InitialValues& values,
                    const Watch& watch) {
  std::int64_t read = 0;
  for (const std::string& name : plan.names) {
    tell(watch, read++, static_cast<std::int64_t>(plan.names.size()));
    auto& elements = values.at(name);
    const StoredTensor& tensor = *file.find(name);
    check(tensor.elements() == elements.size(),
          fmt::format("{}: the plan is for another graph", name));
    file.read(tensor, 0, std::span(elements));
  }
}

void save_variables(Executor& executor, const AtomicFile& file,
                    const std::map<std::string, std::string>& metadata) {
  const Graph& graph = executor.graph();
  InitialValues values;
  std::vector<TensorToWrite> tensors;
  for (const Variable& variable : graph.variables()) {
    const std::string& name = graph.value(variable.value).name;
    const auto& elements = values.emplace(name, executor.read_variable(name)).first->second;
    tensors.push_back({.name = name,
                       .type = StoredType::f32,
                       .shape = stored_shape(graph.shape(variable.value)),
                       .data = std::as_bytes(std::span(elements))});
  }
  write_tensor_file(file, tensors, metadata);
}

}  // namespace bench
