#include "kernels/reference/optimizer.h"

#include <algorithm>

#include "models/base/errors.h"

namespace bench::reference {
namespace {

class ReferenceOptimizer : public Optimizer {
 public:
  ReferenceOptimizer(const OptimizerSettings& settings, std::vector<OptimizerSegment> segments)
      : settings_(settings), segments_(std::move(segments)) {}

  void launch(Stream&, float* variables, const float* gradients, float* slots, double learning_rate,
              double gradient_scale) override {
    check(settings_.kind == OptimizerKind::sgd || slots != nullptr,
          "reference: momentum needs its slots");
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
          slots[i] = static_cast<float>(a);
          step += learning_rate * settings_.momentum * a;
        }
        variables[i] = static_cast<float>(w - step);
      }
    }
  }

 private:
  OptimizerSettings settings_;
  std::vector<OptimizerSegment> segments_;
};

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const OptimizerSettings& settings,
                                          std::vector<OptimizerSegment> segments) {
  return std::make_unique<ReferenceOptimizer>(settings, std::move(segments));
}

}  // namespace bench::reference
