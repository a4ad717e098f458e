#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/step_state.h"
#include "models/base/dtype.h"

namespace bench {

class Stream;

// The update rules with their coefficients, per element with a gradient g, a variable w, a learning
// rate lr and slots in the order of the formulas.

/// w -= lr*g.
struct SgdRule {};
/// Nesterov's: a = momentum*a + g, w -= lr*g + lr*momentum*a.
struct MomentumRule {
  double momentum = 0.9;
};
/// s = decay*s + (1-decay)*g^2, a = momentum*a + lr*g/sqrt(s+epsilon), w -= a.
struct RmspropRule {
  double decay = 0.9;
  double momentum = 0.9;
  double epsilon = 1;
};
/// m = beta1*m + (1-beta1)*g, v = beta2*v + (1-beta2)*g^2, and in update t, counted from 1,
/// w -= lr*sqrt(1-beta2^t)/(1-beta1^t) * m/(sqrt(v)+epsilon).
struct AdamRule {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};

// The comma before each row's rule leaves an empty place in front of the first.
template <class First, class... Rules>
using VariantBehind = std::variant<Rules...>;
/// One of those of optimizers.inc.
using OptimizerRule = VariantBehind<void
#define BENCH_OPTIMIZER(Rule, ...) , Rule
#include "kernels/optimizers.inc"
#undef BENCH_OPTIMIZER
                                    >;

/// One row of optimizers.inc.
struct OptimizerRow {
  std::string_view name;
  /// With its usual coefficients.
  OptimizerRule rule;
  /// Of each slot: what all its elements are before the first update.
  std::vector<double> first_values;

  [[nodiscard]] std::size_t slots() const { return first_values.size(); }
};
/// In the order of OptimizerRule's alternatives.
std::span<const OptimizerRow> all_optimizers();
const OptimizerRow& row_of(const OptimizerRule& rule);
/// Throws InternalError for another number of slots than the rule has.
void check_slots(const OptimizerRule& rule, std::size_t slots);

/// What an optimizer does in every update, over flat regions of variables, gradients and slots that
/// share their offsets. The rule's g is gradient * gradient_scale + (decayed ? weight_decay * w :
/// 0), clamped to +-clip; the w of the decay is that of OptimizerMemory::decaying.
struct OptimizerSettings {
  OptimizerRule rule = {};
  double weight_decay = 0;
  std::optional<double> clip = {};
  LossScaleRule loss_scale = {};
  /// Of all regions. Every backend has f32; the reference also f64.
  DType dtype = DType::f32;
};
/// Memory of all slots of a region with so many elements, in bytes.
std::size_t slot_bytes(const OptimizerSettings& settings, std::size_t elements);
/// What one update of so many elements reads and writes, in bytes.
std::size_t update_bytes(const OptimizerSettings& settings, std::size_t elements);

/// What the rules take from the state of a step.
struct UpdateScalars {
  double learning_rate = 0;
  double gradient_scale = 1;
  /// Which update since the slots held their first values: 1 is the first.
  std::int64_t update = 1;
};
constexpr UpdateScalars scalars_of(const StepState& state) {
  return {.learning_rate = state.orders.learning_rate,
          .gradient_scale = state.orders.gradient_scale / state.loss_scale,
          .update = state.updates + 1};
}

/// How the elements of a stretch lie in a copy of it. Both are cut into tiles of as many elements.
struct TileOrder {
  static constexpr std::size_t kMaxElements = 1024;
  /// Of each tile: which tile of the copy it is.
  std::vector<std::uint32_t> tiles = {};
  /// Of each place in a tile of the copy: which element of the tile comes there. A power of two of
  /// them, at most kMaxElements; none: all lie in the same order, and there are no tiles.
  std::vector<std::uint16_t> elements = {};

  [[nodiscard]] bool same() const { return elements.empty(); }
};

/// A stretch of elements, in elements from the region's beginning.
struct OptimizerSegment {
  std::size_t offset = 0;
  std::size_t count = 0;
  bool decayed = true;
  /// The segment's variables in 16 bits, which every update renews: rounded to nearest, ties to
  /// even.
  struct Copy {
    /// In elements from the beginning of the copies.
    std::size_t offset = 0;
    DType dtype = DType::bf16;
    TileOrder order = {};
  };
  std::vector<Copy> copies = {};
};

/// What an update works on, in the device's memory.
struct OptimizerMemory {
  void* variables = nullptr;
  const void* gradients = nullptr;
  /// The variables that the gradients were computed with, of which the decay is; null: `variables`.
  const void* decaying = nullptr;
  std::span<void* const> slots = {};
  /// May be null where no segment has a copy.
  void* copies = nullptr;
};

/// The optimizer of a device. Elements outside its segments are nobody's and stay as they are.
/// `slots` are the rule's; another number of them throws InternalError.
class Optimizer {
 public:
  Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer() = default;
  /// Sets the slots to their first values and the count of updates to 0; may return before it is
  /// done. `state` is in the device's memory, here and below.
  virtual void reset(Stream& stream, std::span<void* const> slots, StepState* state) = 0;
  /// Sets state->finite: whether every gradient of the segments is a finite number. One beyond
  /// 1e19, as lost as an infinite one, may count as infinite. May return before it is done.
  virtual void judge(Stream& stream, const void* gradients, StepState* state) = 0;
  /// Updates variables and slots in place, and the copies, unless the gradients are not finite,
  /// then finishes the step's state; may return before it is done.
  virtual void launch(Stream& stream, const OptimizerMemory& memory, StepState* state) = 0;
};

}  // namespace bench
