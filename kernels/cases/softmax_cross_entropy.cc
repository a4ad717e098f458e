#include "models/ops/loss.h"

#include "kernels/cases/cases.h"

namespace bench {
namespace {

struct Spec {
  std::string name;
  std::int64_t rows = 0;
  std::int64_t classes = 0;
  double logit_scale = 1;
  SoftmaxCrossEntropyAttributes attributes = {};
};

/// An exponential multiplies the rounding of its argument by the argument.
KernelCase make_case(const Spec& spec) {
  return {
      .name = "softmax_cross_entropy_" + spec.name,
      .op = &kSoftmaxCrossEntropy,
      .attributes = spec.attributes,
      .inputs = {{.shape = {spec.rows, spec.classes}}, {.dtype = DType::s32, .shape = {spec.rows}}},
      .fills = {{.scale = spec.logit_scale},
                {.kind = InputFill::Kind::labels, .scale = static_cast<double>(spec.classes)}},
      .weights = {},
      .reduction = spec.classes,
      .epsilons = 8 * spec.logit_scale};
}

}  // namespace

std::vector<KernelCase> softmax_cross_entropy_cases() {
  std::vector<KernelCase> cases;
  for (const Spec& spec : std::vector<Spec>{
           {.name = "ten", .rows = 16, .classes = 10},
           {.name = "imagenet", .rows = 3, .classes = 1001},
           {.name = "batch1", .rows = 1, .classes = 37},
           {.name = "two", .rows = 9, .classes = 2},
           // Exponentials of such logits overflow f32 unless the largest is taken off first.
           {.name = "large_logits", .rows = 8, .classes = 10, .logit_scale = 100},
           {.name = "smoothed", .rows = 5, .classes = 37, .attributes = {.label_smoothing = 0.1}},
           {.name = "auxiliary", .rows = 8, .classes = 10, .attributes = {.weight = 0.4}},
           {.name = "smoothed_auxiliary",
           .rows = 3,
           .classes = 1001,
           .attributes = {.label_smoothing = 0.1, .weight = 0.3}},
           {.name = "smoothed_large_logits",
           .rows = 8,
           .classes = 10,
           .logit_scale = 100,
           .attributes = {.label_smoothing = 0.2, .weight = 2}},
       }) {
    cases.push_back(make_case(spec));
  }
  return cases;
}

}  // namespace bench
