#include "kernels/reference/optimizer.h"

#include <algorithm>
#include <cmath>

#include "models/base/errors.h"

namespace bench::reference {
namespace {

template <class T>
class ReferenceOptimizer : public Optimizer {
 public:
  ReferenceOptimizer(const OptimizerSettings& settings, std::vector<OptimizerSegment> segments)
      : settings_(settings), segments_(std::move(segments)) {}

  void launch(Stream&, void* all_variables, const void* all_gradients, void* all_slots,
              double learning_rate, double gradient_scale) override {
    check(settings_.kind == OptimizerKind::sgd || all_slots != nullptr,
          "reference: momentum needs its slots");
    auto* variables = static_cast<T*>(all_variables);
    const auto* gradients = static_cast<const T*>(all_gradients);
    auto* slots = static_cast<T*>(all_slots);
    for (const OptimizerSegment& segment : segments_) {
      for (std::size_t i = segment.offset; i < segment.offset + segment.count; ++i) {
        const double w = variables[i];
        double g = gradients[i] * gradient_scale;
        if (segment.decayed) {
          g += settings_.weight_decay * w;
        }
        if (settings_.clip) {
          g = std::clamp(g, -*settings_.clip, *settings_.clip);
        }
        double step = learning_rate * g;
        if (settings_.kind == OptimizerKind::momentum) {
          const double a = settings_.momentum * slots[i] + g;
          slots[i] = static_cast<T>(a);
          step += learning_rate * settings_.momentum * a;
        }
        variables[i] = static_cast<T>(w - step);
      }
    }
  }

  bool finite(const void* all_gradients) override {
    const auto* gradients = static_cast<const T*>(all_gradients);
    return std::all_of(segments_.begin(), segments_.end(), [&](const OptimizerSegment& segment) {
      const T* const begin = gradients + segment.offset;
      return std::all_of(begin, begin + segment.count, [](T g) { return std::isfinite(g); });
    });
  }

 private:
  OptimizerSettings settings_;
  std::vector<OptimizerSegment> segments_;
};

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const OptimizerSettings& settings,
                                          std::vector<OptimizerSegment> segments) {
  if (settings.dtype == DType::f64) {
    return std::make_unique<ReferenceOptimizer<double>>(settings, std::move(segments));
  }
  check(settings.dtype == DType::f32, "reference: the optimizer updates f32 and f64");
  return std::make_unique<ReferenceOptimizer<float>>(settings, std::move(segments));
}

}  // namespace bench::reference
