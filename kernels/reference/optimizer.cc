#include "kernels/reference/optimizer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/base/errors.h"
#include "models/base/half.h"

namespace bench::reference {
namespace {

/// What a rule has to work with at one element; formulas at the rules.
struct Element {
  double gradient = 0;
  /// Read and written.
  std::span<double> slots{};
};

// By how much a variable falls in an update.

double step(const SgdRule&, const UpdateScalars& scalars, const Element& element) {
  return scalars.learning_rate * element.gradient;
}

double step(const MomentumRule& rule, const UpdateScalars& scalars, const Element& element) {
  double& a = element.slots[0];
  a = rule.momentum * a + element.gradient;
  return scalars.learning_rate * element.gradient + scalars.learning_rate * rule.momentum * a;
}

double step(const RmspropRule& rule, const UpdateScalars& scalars, const Element& element) {
  const double g = element.gradient;
  double& s = element.slots[0];
  double& a = element.slots[1];
  s = rule.decay * s + (1 - rule.decay) * g * g;
  a = rule.momentum * a + scalars.learning_rate * g / std::sqrt(s + rule.epsilon);
  return a;
}

double step(const AdamRule& rule, const UpdateScalars& scalars, const Element& element) {
  const double g = element.gradient;
  double& m = element.slots[0];
  double& v = element.slots[1];
  m = rule.beta1 * m + (1 - rule.beta1) * g;
  v = rule.beta2 * v + (1 - rule.beta2) * g * g;
  const auto t = static_cast<double>(scalars.update);
  const double rate = scalars.learning_rate * std::sqrt(1 - std::pow(rule.beta2, t)) /
                      (1 - std::pow(rule.beta1, t));
  return rate * m / (std::sqrt(v) + rule.epsilon);
}

double step(const LarsRule& rule, const UpdateScalars& scalars, const Element& element) {
  double& a = element.slots[0];
  a = rule.momentum * a + scalars.learning_rate * element.gradient;
  return a;
}

template <class T>
double norm_of(const T* values, std::size_t count) {
  return std::sqrt(std::inner_product(values, values + count, values, 0.0));
}

template <class T>
class ReferenceOptimizer : public Optimizer {
 public:
  ReferenceOptimizer(const OptimizerSettings& settings, std::vector<OptimizerSegment> segments)
      : settings_(settings), segments_(std::move(segments)) {}

  void reset(Stream&, std::span<void* const> slots, StepState* state) override {
    state->updates = 0;
    check_slots(settings_.rule, slots.size());
    for (const OptimizerSegment& segment : segments_) {
      for (std::size_t slot = 0; slot < slots.size(); ++slot) {
        std::fill_n(static_cast<T*>(slots[slot]) + segment.offset, segment.count,
                    static_cast<T>(row_of(settings_.rule).first_values[slot]));
      }
    }
  }

  void launch(Stream&, const OptimizerMemory& memory, StepState* state) override {
    check_slots(settings_.rule, memory.slots.size());
    const UpdateScalars scalars = scalars_of(*state);
    const auto update_all = [&](const auto& rule) {
      for (const OptimizerSegment& segment : segments_) {
        update(rule, segment, memory, scalars);
        for (const OptimizerSegment::Copy& copy : segment.copies) {
          renew(segment, copy, memory);
        }
      }
    };
    if (state->finite != 0) {
      std::visit(update_all, settings_.rule);
    }
    finish_step(*state, settings_.loss_scale);
  }

  void judge(Stream&, const void* all_gradients, StepState* state) override {
    const auto* gradients = static_cast<const T*>(all_gradients);
    const bool finite =
        std::all_of(segments_.begin(), segments_.end(), [&](const OptimizerSegment& segment) {
          const T* const begin = gradients + segment.offset;
          return std::all_of(begin, begin + segment.count, [](T g) { return std::isfinite(g); });
        });
    state->finite = finite ? 1 : 0;
  }

 private:
  template <class Rule>
  void update(const Rule& rule, const OptimizerSegment& segment, const OptimizerMemory& memory,
              UpdateScalars scalars) const {
    auto* const variables = static_cast<T*>(memory.variables);
    const auto* const gradients = static_cast<const T*>(memory.gradients);
    const auto* const decaying =
        memory.decaying == nullptr ? variables : static_cast<const T*>(memory.decaying);
    if constexpr (std::is_same_v<Rule, LarsRule>) {
      if (segment.decayed) {
        scalars.learning_rate *= trust_ratio(
            rule, settings_.weight_decay, norm_of(decaying + segment.offset, segment.count),
            norm_of(gradients + segment.offset, segment.count) * scalars.gradient_scale);
      }
    }
    std::vector<double> slots(memory.slots.size());
    for (std::size_t i = segment.offset; i < segment.offset + segment.count; ++i) {
      const double w = variables[i];
      double g = gradients[i] * scalars.gradient_scale;
      if (segment.decayed) {
        g += settings_.weight_decay * decaying[i];
      }
      if (settings_.clip) {
        g = std::clamp(g, -*settings_.clip, *settings_.clip);
      }
      for (std::size_t slot = 0; slot < slots.size(); ++slot) {
        slots[slot] = static_cast<const T*>(memory.slots[slot])[i];
      }
      variables[i] = static_cast<T>(w - step(rule, scalars, {.gradient = g, .slots = slots}));
      for (std::size_t slot = 0; slot < slots.size(); ++slot) {
        static_cast<T*>(memory.slots[slot])[i] = static_cast<T>(slots[slot]);
      }
    }
  }

  static void renew(const OptimizerSegment& segment, const OptimizerSegment::Copy& copy,
                    const OptimizerMemory& memory) {
    const auto* const variables = static_cast<const T*>(memory.variables) + segment.offset;
    auto* const copies = static_cast<std::uint16_t*>(memory.copies) + copy.offset;
    const TileOrder& order = copy.order;
    const std::size_t tile = order.same() ? segment.count : order.elements.size();
    for (std::size_t i = 0; i < segment.count; ++i) {
      const std::size_t begin = i / tile * tile;
      const std::size_t from = order.same() ? i : begin + order.elements[i - begin];
      const std::size_t to = order.same() ? i : order.tiles[i / tile] * tile + (i - begin);
      const double variable = variables[from];
      copies[to] = copy.dtype == DType::bf16 ? narrow_to_bfloat16(variable).bits
                                             : narrow_to_float16(variable).bits;
    }
  }

  OptimizerSettings settings_;
  std::vector<OptimizerSegment> segments_;
};

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const OptimizerSettings& settings,
                                          std::vector<OptimizerSegment> segments) {
  if (settings.dtype == DType::f64) {
    return std::make_unique<ReferenceOptimizer<double>>(settings, std::move(segments));
  }
  check(settings.dtype == DType::f32, "reference: the optimizer updates only f32 and f64");
  return std::make_unique<ReferenceOptimizer<float>>(settings, std::move(segments));
}

}  // namespace bench::reference
