#include "variable_mgmt/checkpoint/run_state.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "models/base/errors.h"
#include "variable_mgmt/weights.h"

namespace bench {
namespace {

constexpr std::string_view kComputingVariables = "computing_variables";

/// The name of a tensor. `region` is empty for the variables themselves; `tower` is set for what
/// only that tower has.
std::string tensor_name(std::string_view region, const std::string& variable,
                        std::optional<int> tower) {
  const std::string rest = region.empty() ? variable : fmt::format("{}/{}", region, variable);
  if (tower) {
    return fmt::format("{}tower/{}/{}", kRunStatePrefix, *tower, rest);
  }
  return region.empty() ? rest : fmt::format("{}{}", kRunStatePrefix, rest);
}

std::string step_state_key(int tower) { return fmt::format("step_state/{}", tower); }

std::string text_of(const StepState& state) {
  return fmt::format("{} {} {} {}", state.updates, state.good_steps, state.skipped,
                     state.loss_scale);
}

/// Reads a text of text_of(); throws DataError.
StepState step_state_of(const TensorFile& file, const std::string& key, const std::string& text) {
  StepState state;
  double loss_scale = 0;
  const char* place = text.data();
  const char* const end = place + text.size();
  bool valid = true;
  const auto read = [&](auto& number) {
    place += place != text.data() && place != end && *place == ' ' ? 1 : 0;
    const auto [rest, error] = std::from_chars(place, end, number);
    valid = valid && error == std::errc() && number >= 0;
    place = rest;
  };
  read(state.updates);
  read(state.good_steps);
  read(state.skipped);
  read(loss_scale);
  if (!valid || place != end || !(loss_scale > 0) || !std::isfinite(loss_scale)) {
    throw DataError(fmt::format("{}: {} is {}, not three counts and a loss scale", file.name(), key,
                                quoted_name(text)));
  }
  state.set_loss_scale(loss_scale);
  return state;
}

StoredType stored_type(DType dtype) {
  check(dtype == DType::f32 || dtype == DType::f64, "run state: a variable is neither f32 nor f64");
  return dtype == DType::f64 ? StoredType::f64 : StoredType::f32;
}

/// Calls `use(segment, memory, name)` for every trained variable in the regions. The newest
/// variables have their own names.
template <class Use>
void for_each_part(const Executor& executor, const std::vector<StateRegion>& regions,
                   const Use& use) {
  const auto& segments = executor.segments();
  for (const StateRegion& region : regions) {
    const std::string_view own_name = region.name;
    const std::string_view name = own_name == kHeldVariables ? "" : own_name;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      const std::size_t offset = segments[i].offset;
      if (offset >= region.range.first && offset < region.range.last) {
        use(i,
            static_cast<std::byte*>(region.data) +
                (offset - region.range.first) * size_of(executor.trained_dtype()),
            name);
      }
    }
  }
}

/// The variables of a tower's network.
struct TowerVariable {
  std::string name;
  TensorType type;
  /// The region of the variable that the network reads: empty, or kComputingVariables.
  std::string_view region;
  bool trained = false;
};

std::vector<TowerVariable> variables_of(const Executor& executor,
                                        const std::vector<StateRegion>& regions) {
  const bool computes_with_older = std::ranges::any_of(
      regions, [](const StateRegion& region) { return region.name == kHeldVariables; });
  std::set<std::string> trained;
  for (std::size_t i = 0; i < executor.segments().size(); ++i) {
    trained.insert(executor.segment_name(i));
  }
  std::vector<TowerVariable> variables;
  for (const Variable& variable : executor.graph().variables()) {
    const std::string& name = executor.graph().value(variable.value).name;
    const bool is_trained = trained.contains(name);
    variables.push_back({.name = name,
                         .type = executor.graph().type(variable.value),
                         .region = computes_with_older && is_trained ? kComputingVariables : "",
                         .trained = is_trained});
  }
  return variables;
}

/// Returns the elements in a file in that type, as bytes.
std::vector<std::byte> read_bytes(const TensorFile& file, const StoredTensor& tensor, DType dtype) {
  std::vector<std::byte> bytes(tensor.elements() * size_of(dtype));
  if (stored_type(dtype) == StoredType::f64) {
    file.read(tensor, 0, {reinterpret_cast<double*>(bytes.data()), tensor.elements()});
  } else {
    file.read(tensor, 0, {reinterpret_cast<float*>(bytes.data()), tensor.elements()});
  }
  return bytes;
}

/// Finds a tower's tensors in a file. Its separate tensors take precedence.
class TowerTensors {
 public:
  TowerTensors(const TensorFile& file, int tower, TowerVariables related)
      : file_(file), tower_(tower), related_(related) {}

  /// The elements of a variable's tensor in the variable's type, or nothing if the file lacks it.
  /// Throws DataError for another shape or type.
  [[nodiscard]] std::optional<std::vector<std::byte>> find(std::string_view region,
                                                           const TowerVariable& variable) const {
    const bool own = related_ == TowerVariables::separate || !variable.trained;
    for (const std::optional<int> tower : {std::optional(tower_), std::optional<int>()}) {
      const std::string name = tensor_name(region, variable.name, tower);
      const StoredTensor* tensor = tower && !own ? nullptr : file_.find(name);
      if (tensor == nullptr) {
        continue;
      }
      if (!is_floating(tensor->type) || tensor->shape != stored_shape(variable.type.shape)) {
        throw DataError(fmt::format("{}: {} is {} of {}; this run needs {}", file_.name(),
                                    quoted_name(name), shape_text(tensor->shape),
                                    name_of(tensor->type),
                                    shape_text(stored_shape(variable.type.shape))));
      }
      return read_bytes(file_, *tensor, variable.type.dtype);
    }
    return std::nullopt;
  }

 private:
  const TensorFile& file_;
  int tower_;
  TowerVariables related_;
};

/// The number of towers in the processes that precede this one.
int towers_before(const Towers& towers, const World* world) {
  return world == nullptr ? 0 : world->rank() * towers.size();
}

void put(std::string& text, std::string_view bytes) {
  const std::uint64_t size = bytes.size();
  text.append(reinterpret_cast<const char*>(&size), sizeof(size)).append(bytes);
}

/// Removes what put() appended from the beginning of `text`.
std::string_view take(std::string_view& text) {
  std::uint64_t size = 0;
  check(text.size() >= sizeof(size), "run state: a message is too short");
  std::memcpy(&size, text.data(), sizeof(size));
  text.remove_prefix(sizeof(size));
  check(text.size() >= size, "run state: a message is too short");
  const std::string_view bytes = text.substr(0, size);
  text.remove_prefix(size);
  return bytes;
}

template <class Value>
std::string_view bytes_of(const std::vector<Value>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)};
}

/// Restores the values of bytes_of().
template <class Value>
std::vector<Value> values_of(std::string_view bytes) {
  std::vector<Value> values(bytes.size() / sizeof(Value));
  if (!values.empty()) {
    std::memcpy(values.data(), bytes.data(), bytes.size());
  }
  return values;
}

/// Begins the message of a process that has its state. Another one has the reason why it does not.
constexpr std::string_view kPacked = "run state\n";

/// The state as a message to another process of the same build.
std::string packed(const RunState& state) {
  std::string text(kPacked);
  for (const auto& [key, value] : state.metadata) {
    put(text, "");
    put(text, key);
    put(text, value);
  }
  for (const auto& [name, tensor] : state.tensors) {
    put(text, name);
    put(text, bytes_of(std::vector{tensor.type}));
    put(text, bytes_of(tensor.shape));
    put(text, bytes_of(tensor.bytes));
  }
  return text;
}

void add_packed(std::string_view text, RunState& state) {
  text.remove_prefix(kPacked.size());
  while (!text.empty()) {
    const std::string name(take(text));
    if (name.empty()) {
      std::string key(take(text));
      state.metadata.emplace(std::move(key), take(text));
      continue;
    }
    // Initializers in braces are evaluated in order.
    state.tensors.emplace(name, RunState::Tensor{.type = values_of<StoredType>(take(text)).at(0),
                                                 .shape = values_of<std::int64_t>(take(text)),
                                                 .bytes = values_of<std::byte>(take(text))});
  }
}

}  // namespace

RunState read_run_state(Towers& towers, TowerVariables related, World* world,
                        std::map<std::string, std::string> metadata) {
  RunState state{.tensors = {}, .metadata = std::move(metadata)};
  const int before = towers_before(towers, world);
  std::mutex mutex;
  // One tower at a time: each looks at what the others have added.
  const auto read = [&](int number) {
    const std::scoped_lock lock(mutex);
    Tower& tower = towers[number];
    Executor& executor = tower.executor();
    const std::vector<StateRegion> regions = towers.update(number)->state_regions();
    const std::vector<TowerVariable> variables = variables_of(executor, regions);
    const int of_all = before + number;
    const bool all = of_all == 0 || related == TowerVariables::separate;
    const auto own = [&](bool is_own) {
      return is_own && of_all > 0 ? std::optional(of_all) : std::nullopt;
    };
    const auto add = [&](std::string name, const TensorType& type, const auto& read_bytes) {
      if (!state.tensors.contains(name)) {
        state.tensors.emplace(std::move(name), RunState::Tensor{.type = stored_type(type.dtype),
                                                                .shape = stored_shape(type.shape),
                                                                .bytes = read_bytes()});
      }
    };
    std::map<std::string, TensorType> types;
    for (const TowerVariable& variable : variables) {
      types.emplace(variable.name, variable.type);
      if (all || !variable.trained) {
        add(tensor_name(variable.region, variable.name, own(true)), variable.type,
            [&] { return executor.read_variable_bytes(variable.name); });
      }
    }
    // Each process has all shared values. Within a process, a tower may have some of them.
    if (all || before == 0) {
      for_each_part(
          executor, regions, [&](std::size_t segment, void* memory, std::string_view region) {
            const std::string& variable = executor.segment_name(segment);
            add(tensor_name(region, variable, own(related == TowerVariables::separate)),
                types.at(variable), [&] { return executor.read_segment(segment, memory); });
          });
    }
    if (all) {
      tower.fetch_state();
      tower.wait();
      state.metadata[step_state_key(of_all)] = text_of(tower.seen_state());
    }
  };
  towers.run(read);
  if (world != nullptr) {
    const std::vector<std::string> texts = world->gather(world->rank() == 0 ? "" : packed(state));
    for (std::size_t rank = 1; rank < texts.size() && world->rank() == 0; ++rank) {
      if (!texts[rank].starts_with(kPacked)) {
        throw DeviceError(fmt::format("{}: {}", world->name(static_cast<int>(rank)), texts[rank]));
      }
      add_packed(texts[rank], state);
    }
  }
  return state;
}

void restore_run_state(Towers& towers, int number, TowerVariables related, const TensorFile& file,
                       const World* world) {
  const int of_all = towers_before(towers, world) + number;
  Tower& tower = towers[number];
  Executor& executor = tower.executor();
  UpdateStrategy& update = *towers.update(number);
  const TowerTensors tensors(file, of_all, related);
  const std::vector<TowerVariable> variables = variables_of(executor, update.state_regions());
  std::map<std::string, TowerVariable> by_name;
  for (const TowerVariable& variable : variables) {
    by_name.emplace(variable.name, variable);
    auto bytes = tensors.find(variable.region, variable);
    if (!bytes && !variable.region.empty()) {
      bytes = tensors.find("", variable);
    }
    if (!bytes) {
      throw DataError(
          fmt::format("{}: the file lacks {}", file.name(), quoted_name(variable.name)));
    }
    executor.write_variable_bytes(variable.name, *bytes);
  }
  // Also copies the variables to where the strategy holds newer ones.
  update.reset();
  for_each_part(
      executor, update.state_regions(),
      [&](std::size_t segment, void* memory, std::string_view region) {
        const TowerVariable& variable = by_name.at(executor.segment_name(segment));
        if (const auto bytes = tensors.find(region, variable)) {
          executor.write_segment(segment, memory, *bytes);
        } else if (region.starts_with("optimizer/")) {
          throw DataError(fmt::format("{}: the file lacks {}", file.name(),
                                      quoted_name(tensor_name(region, variable.name, {}))));
        }
      });
  const auto& metadata = file.metadata();
  auto found = metadata.find(step_state_key(of_all));
  if (found == metadata.end()) {
    found = metadata.find(step_state_key(0));
  }
  if (found == metadata.end()) {
    throw DataError(fmt::format("{}: the file lacks the run's state", file.name()));
  }
  tower.wait();
  tower.restore_state(step_state_of(file, found->first, found->second));
}

}  // namespace bench
