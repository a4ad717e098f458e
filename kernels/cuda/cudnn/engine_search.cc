#include "kernels/cuda/cudnn/engine_search.h"

#include <algorithm>
#include <array>

#include "models/base/errors.h"

namespace bench::cuda {
namespace {

constexpr std::array kCapabilities{75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121};

/// More than a tuner needs; each costs a plan.
constexpr std::size_t kMostEngines = 8;
/// Queries to cuDNN, in order, until one returns an engine that gives the same bits each time. A
/// query that requests more is slower, and the fallback is the slowest. In cuDNN 9.19 they take 1,
/// 3 and 10 ms for a convolution.
struct Question {
  cudnnBackendHeurMode_t mode;
  std::int64_t most;
};
constexpr std::array kQuestions{Question{CUDNN_HEUR_MODE_A, 12}, Question{CUDNN_HEUR_MODE_A, 64},
                                Question{CUDNN_HEUR_MODE_FALLBACK, 64}};

/// cuDNN's notes on an engine.
struct Notes {
  explicit Notes(const Descriptor& engine)
      : numerical_(engine.values<cudnnBackendNumericalNote_t>(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                                              CUDNN_TYPE_NUMERICAL_NOTE)),
        behavior_(engine.values<cudnnBackendBehaviorNote_t>(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE,
                                                            CUDNN_TYPE_BEHAVIOR_NOTE)) {}

  [[nodiscard]] bool has(cudnnBackendNumericalNote_t note) const {
    return std::ranges::find(numerical_, note) != numerical_.end();
  }
  [[nodiscard]] bool has(cudnnBackendBehaviorNote_t note) const {
    return std::ranges::find(behavior_, note) != behavior_.end();
  }

 private:
  std::vector<cudnnBackendNumericalNote_t> numerical_;
  std::vector<cudnnBackendBehaviorNote_t> behavior_;
};

bool loses_digits(const Notes& notes, const EngineWish& wish) {
  return notes.has(CUDNN_NUMERICAL_NOTE_FFT) || notes.has(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6) ||
         notes.has(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13) ||
         notes.has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS) ||
         notes.has(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION) ||
         (wish.dtype == DType::f32 && !wish.tf32 && notes.has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE));
}

/// Engines of cuDNN 9.19 whose results the conformance suite rejected on an H100, although none of
/// their notes gives a reason.
bool fails_conformance(const EngineChoice& choice, const EngineWish& wish) {
  constexpr std::int64_t kWinogradForward = 6;
  constexpr std::int64_t kWinogradData = 7;
  constexpr std::int64_t kWinogradFilter = 17;
  // Its partial sums have 16 bits.
  constexpr std::int64_t kDepthwiseFilter = 61;
  // They take the padding before for the padding after.
  constexpr std::array<std::int64_t, 2> kSymmetricFilter{1, 20};
  if (wish.pass != ConvolutionProblem::Pass::filter) {
    return choice.engine ==
           (wish.pass == ConvolutionProblem::Pass::forward ? kWinogradForward : kWinogradData);
  }
  return choice.engine == kWinogradFilter ||
         (choice.engine == kDepthwiseFilter && is_half(wish.dtype)) ||
         (wish.asymmetric &&
          std::ranges::find(kSymmetricFilter, choice.engine) != kSymmetricFilter.end());
}

/// True if an engine computes a filter gradient in slices, and adds them in the result's type.
bool adds_slices(const EngineChoice& choice) {
  // The header has deprecated the knob's name, but engines still use it.
  constexpr int kSplitK = 0;
  return std::ranges::any_of(choice.knobs, [](const auto& knob) {
    return static_cast<int>(knob.first) == kSplitK && knob.second > 1;
  });
}

/// In bf16 the conformance suite rejected such sums, in f16 it did not. They remain if nothing else
/// uses tensor cores.
void drop_sums_in_bf16(std::vector<EngineChoice>& engines, const EngineWish& wish) {
  const bool others = std::ranges::any_of(engines, [](const EngineChoice& choice) {
    return choice.tensor_cores && !adds_slices(choice);
  });
  if (wish.pass == ConvolutionProblem::Pass::filter && wish.dtype == DType::bf16 && others) {
    std::erase_if(engines, adds_slices);
  }
}

/// Engines that need reordered filters and biases are for int8.
bool takes_plain_tensors(const Notes& notes) {
  return !notes.has(CUDNN_BEHAVIOR_NOTE_REQUIRES_FILTER_INT8x32_REORDER) &&
         !notes.has(CUDNN_BEHAVIOR_NOTE_REQUIRES_BIAS_INT8x32_REORDER);
}

EngineChoice choice_of(const Descriptor& configuration, const Descriptor& engine,
                       const Notes& notes) {
  EngineChoice choice{.engine = engine.integer(CUDNN_ATTR_ENGINE_GLOBAL_INDEX),
                      .tensor_cores = notes.has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE),
                      .deterministic = !notes.has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC)};
  for (const Descriptor& knob :
       configuration.descriptors(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                                 CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS)) {
    choice.knobs.emplace_back(
        knob.values<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE)
            .at(0),
        knob.integer(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE));
  }
  return choice;
}

/// The engine configurations that cuDNN returns, best first; may be empty.
std::vector<Descriptor> configurations(const Descriptor& graph, const PlanTarget& target,
                                       const Question& question) {
  Descriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristic.set_descriptor(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  heuristic.set_value(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, question.mode);
  if (target.device != nullptr) {
    heuristic.set_descriptor(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *target.device);
  }
  if (!heuristic.try_finalize()) {
    return {};
  }
  return heuristic.descriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
                               question.most);
}

void set_target(Descriptor& plan, const PlanTarget& target) {
  if (target.handle != nullptr) {
    plan.set_handle(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, target.handle);
  }
  if (target.device != nullptr) {
    plan.set_descriptor(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *target.device);
  }
}

bool same_engine(const EngineChoice& a, const EngineChoice& b) {
  return a.engine == b.engine && a.knobs == b.knobs;
}

/// The engines found so far: ready ones, and ones that would need run-time compilation.
struct Found {
  std::vector<EngineChoice> ready;
  std::vector<EngineChoice> compiled;
};

void add_engines(Found& found, const Descriptor& graph, const PlanTarget& target,
                 const EngineWish& wish, const Question& question) {
  for (const Descriptor& configuration : configurations(graph, target, question)) {
    const Descriptor engine =
        configuration.descriptor(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    const Notes notes(engine);
    if (loses_digits(notes, wish) || !takes_plain_tensors(notes)) {
      continue;
    }
    EngineChoice choice = choice_of(configuration, engine, notes);
    if (fails_conformance(choice, wish)) {
      continue;
    }
    const bool compiled = notes.has(CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION);
    std::vector<EngineChoice>& engines = compiled ? found.compiled : found.ready;
    if (engines.size() == kMostEngines || std::ranges::any_of(engines, [&](const auto& other) {
          return same_engine(choice, other);
        })) {
      continue;
    }
    if (!compiled) {
      // An engine may reject a configuration that a heuristic names.
      Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
      set_target(plan, target);
      plan.set_descriptor(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
      if (!plan.try_finalize()) {
        continue;
      }
      choice.workspace_bytes = workspace_bytes(plan);
    }
    engines.push_back(std::move(choice));
  }
}

/// The engines that can be compiled, with their workspace.
std::vector<EngineChoice> compile(const std::vector<EngineChoice>& engines, const Descriptor& graph,
                                  const PlanTarget& target) {
  std::vector<EngineChoice> result;
  for (EngineChoice choice : engines) {
    try {
      choice.workspace_bytes = workspace_bytes(make_plan(graph, choice, target));
    } catch (const DeviceError&) {
      continue;
    }
    result.push_back(std::move(choice));
  }
  return result;
}

}  // namespace

std::string EngineChoice::name() const {
  std::string result = fmt::format("eng{}", engine);
  for (const auto& [type, value] : knobs) {
    result += fmt::format("_k{}={}", static_cast<int>(type), value);
  }
  return result;
}

bool knows_capability(int capability) {
  return std::ranges::find(kCapabilities, capability) != kCapabilities.end();
}

std::string known_capabilities() {
  std::string result;
  for (const int capability : kCapabilities) {
    if (!result.empty()) {
      result += capability == kCapabilities.back() ? " and " : ", ";
    }
    result += fmt::format("{}.{}", capability / 10, capability % 10);
  }
  return result;
}

Descriptor device_descriptor(const DeviceProperties& device) {
  if (!knows_capability(device.capability)) {
    throw UsageError(fmt::format(
        "{} has compute capability {}.{}, but convolutions support only {}", device.name,
        device.capability / 10, device.capability % 10, known_capabilities()));
  }
  Descriptor result(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  result.set_text(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, cudnn_device_json(device));
  result.finalize();
  return result;
}

EngineWish wish_for(const ConvolutionProblem& problem, bool tf32) {
  return {.pass = problem.pass,
          .dtype = problem.dtype,
          .asymmetric = problem.window.pad_before != problem.window.pad_after,
          .tf32 = tf32,
          .compiled = !problem.statistics && !problem.prologue};
}

std::vector<EngineChoice> find_engines(const Descriptor& graph, const PlanTarget& target,
                                       const EngineWish& wish) {
  Found found;
  for (const Question& question : kQuestions) {
    add_engines(found, graph, target, wish, question);
    if (std::ranges::any_of(found.ready, &EngineChoice::deterministic)) {
      break;
    }
  }
  drop_sums_in_bf16(found.ready, wish);
  const bool compiled = found.ready.empty() && wish.compiled;
  return compiled ? compile(found.compiled, graph, target) : std::move(found.ready);
}

Descriptor make_plan(const Descriptor& graph, const EngineChoice& choice,
                     const PlanTarget& target) {
  Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  engine.set_descriptor(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
  engine.set_integer(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, choice.engine);
  if (target.device != nullptr) {
    engine.set_descriptor(CUDNN_ATTR_ENGINE_DEVICEPROP, *target.device);
  }
  engine.finalize();

  std::vector<Descriptor> knobs;
  for (const auto& [type, value] : choice.knobs) {
    Descriptor knob(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    knob.set_value(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, type);
    knob.set_integer(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, value);
    knob.finalize();
    knobs.push_back(std::move(knob));
  }
  Descriptor configuration(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  configuration.set_descriptor(CUDNN_ATTR_ENGINECFG_ENGINE, engine);
  if (!knobs.empty()) {
    configuration.set_descriptors(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, knobs);
  }
  configuration.finalize();

  Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  set_target(plan, target);
  plan.set_descriptor(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
  plan.finalize();
  return plan;
}

std::size_t workspace_bytes(const Descriptor& plan) {
  return static_cast<std::size_t>(plan.integer(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE));
}

}  // namespace bench::cuda
