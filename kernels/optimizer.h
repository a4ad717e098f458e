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

// The update rules with their coefficients. Their formulas apply to each element, with a gradient
// g, a variable w, a learning rate lr and slots in the order of the formulas.

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
/// The moments are m = beta1*m + (1-beta1)*g and v = beta2*v + (1-beta2)*g^2. In update t, counted
/// from 1, w -= lr*sqrt(1-beta2^t)/(1-beta1^t) * m/(sqrt(v)+epsilon).
struct AdamRule {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};

/// Layer-wise adaptive rates (You, Gitman and Ginsburg, arXiv:1708.03888), in the form of MLPerf
/// Training's ResNet-50: a = momentum*a + trust_ratio*lr*g, w -= a.
struct LarsRule {
  double trust_coefficient = 0.001;
  double momentum = 0.9;
  double epsilon = 0;
};
/// LARS's factor of the learning rate for a variable that decays; for others it is 1. The norms are
/// L2 norms of the variable and of its gradient, before decay and clamping.
constexpr double trust_ratio(const LarsRule& rule, double weight_decay, double variable_norm,
                             double gradient_norm) {
  return variable_norm > 0 && gradient_norm > 0
             ? rule.trust_coefficient * variable_norm /
                   (gradient_norm + weight_decay * variable_norm + rule.epsilon)
             : 1;
}

// The comma before each row's rule leaves an empty argument before the first.
template <class First, class... Rules>
using VariantBehind = std::variant<Rules...>;
/// One of the rules in optimizers.inc.
using OptimizerRule = VariantBehind<void
#define BENCH_OPTIMIZER(Rule, ...) , Rule
#include "kernels/optimizers.inc"
#undef BENCH_OPTIMIZER
                                    >;

/// One row of optimizers.inc.
struct OptimizerRow {
  std::string_view name;
  /// The rule with its usual coefficients.
  OptimizerRule rule;
  /// The initial value of all elements of each slot.
  std::vector<double> first_values;

  [[nodiscard]] std::size_t slots() const { return first_values.size(); }
};
/// In the order of OptimizerRule's alternatives.
std::span<const OptimizerRow> all_optimizers();
const OptimizerRow& row_of(const OptimizerRule& rule);
/// Throws InternalError if the number of slots differs from the rule's.
void check_slots(const OptimizerRule& rule, std::size_t slots);

/// What an optimizer does in every update, over flat regions of variables, gradients and slots with
/// equal offsets. The rule's g is gradient * gradient_scale + (decayed ? weight_decay * w : 0),
/// clamped to +-clip. For the decay, w is from OptimizerMemory::decaying.
struct OptimizerSettings {
  OptimizerRule rule = {};
  double weight_decay = 0;
  std::optional<double> clip = {};
  LossScaleRule loss_scale = {};
  /// The type of all regions. Every backend supports f32; the reference also f64.
  DType dtype = DType::f32;
};
/// Memory of all slots of a region with `elements` elements, in bytes.
std::size_t slot_bytes(const OptimizerSettings& settings, std::size_t elements);
/// Bytes that one update of `elements` elements reads and writes.
std::size_t update_bytes(const OptimizerSettings& settings, std::size_t elements);

/// The part of a step's state that the rules use.
struct UpdateScalars {
  double learning_rate = 0;
  double gradient_scale = 1;
  /// Counts updates since the slots were initialised: 1 is the first.
  std::int64_t update = 1;
};
constexpr UpdateScalars scalars_of(const StepState& state) {
  return {.learning_rate = state.parameters.learning_rate,
          .gradient_scale = state.parameters.gradient_scale / state.loss_scale,
          .update = state.updates + 1};
}

/// The order of a range's elements in its copy. Both are divided into tiles of equal size.
struct TileOrder {
  static constexpr std::size_t kMaxElements = 1024;
  /// For each tile, its index in the copy.
  std::vector<std::uint32_t> tiles = {};
  /// For each position in a tile of the copy, the index of the element in the tile. The size is a
  /// power of two, at most kMaxElements. If empty, the order is the same and `tiles` is empty too.
  std::vector<std::uint16_t> elements = {};

  [[nodiscard]] bool same() const { return elements.empty(); }
};

/// A range of elements, which is a whole variable; the unit is an element from the region's
/// beginning.
struct OptimizerSegment {
  std::size_t offset = 0;
  std::size_t count = 0;
  bool decayed = true;
  /// The elements of a row if the gradient is sparse: all rows are 0 except SparseGradient::rows.
  /// 0 if it is dense.
  std::size_t sparse_row = 0;
  /// A 16-bit copy of the segment's variables, which every update refreshes: rounded to nearest,
  /// ties to even.
  struct Copy {
    /// Offset in elements from the beginning of the copies.
    std::size_t offset = 0;
    DType dtype = DType::bf16;
    TileOrder order = {};
  };
  std::vector<Copy> copies = {};
};

/// A tower's sparse gradient of a segment.
struct SparseGradient {
  /// Distinct, in ascending order.
  std::span<const std::int32_t> rows = {};
  /// The tower's whole gradients.
  const void* gradients = nullptr;
};

/// The buffers of an update, in the device's memory.
struct OptimizerMemory {
  void* variables = nullptr;
  const void* gradients = nullptr;
  /// The variables from which the gradients were computed, to which the decay applies; null means
  /// `variables`.
  const void* decaying = nullptr;
  std::span<void* const> slots = {};
  /// All towers' sparse gradients, which are added: of the first sparse segment, of the second and
  /// so on. Requires SgdRule and no decay. Empty if no segment is sparse.
  std::span<const SparseGradient> sparse = {};
  /// May be null if no segment has a copy.
  void* copies = nullptr;
};

/// The optimizer of a device. Elements outside its segments stay unchanged. `slots` must match the
/// rule; otherwise throws InternalError.
class Optimizer {
 public:
  Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer() = default;
  /// Initialises the slots and sets the update count to 0; may return before it is done. `state` is
  /// in the device's memory, here and below.
  virtual void reset(Stream& stream, std::span<void* const> slots, StepState* state) = 0;
  /// Sets state->finite to whether every gradient of the segments is finite. A gradient beyond 1e19
  /// is equally lost and may count as infinite. May return before it is done.
  virtual void judge(Stream& stream, const void* gradients, StepState* state) = 0;
  /// Updates variables, slots and copies in place unless a gradient is not finite, then finishes
  /// the step's state. May return before it is done.
  virtual void launch(Stream& stream, const OptimizerMemory& memory, StepState* state) = 0;
};

}  // namespace bench
