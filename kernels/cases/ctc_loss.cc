#include "models/ops/ctc_loss.h"

#include "kernels/cases/cases.h"

namespace bench {
namespace {

struct Spec {
  std::string name;
  std::int64_t frames = 0;
  std::int64_t examples = 0;
  std::int64_t classes = 0;
  std::int64_t labels = 0;
  double logit_scale = 1;
};

/// All labels and frames count. There are frames for all labels, even if all are the same.
KernelCase make_case(const Spec& spec) {
  const auto all = [](std::int64_t count) {
    return InputFill{.kind = InputFill::Kind::constant, .mean = static_cast<double>(count)};
  };
  return {
      .name = "ctc_loss_" + spec.name,
      .op = &kCtcLoss,
      .inputs = {{.shape = {spec.frames, spec.examples, spec.classes}},
                 {.dtype = DType::s32, .shape = {spec.examples, spec.labels}},
                 {.dtype = DType::s32, .shape = {spec.examples}},
                 {.dtype = DType::s32, .shape = {spec.examples}}},
      .fills = {{.scale = spec.logit_scale},
                {.kind = InputFill::Kind::labels, .scale = static_cast<double>(spec.classes - 1)},
                all(spec.labels),
                all(spec.frames)},
      .reduction = spec.frames,
      .epsilons = 8 * spec.logit_scale};
}

}  // namespace

std::vector<KernelCase> ctc_loss_cases() {
  std::vector<KernelCase> cases;
  for (const Spec& spec : std::vector<Spec>{
           {.name = "small", .frames = 9, .examples = 3, .classes = 5, .labels = 4},
           {.name = "one_label", .frames = 4, .examples = 2, .classes = 2, .labels = 1},
           {.name = "letters", .frames = 50, .examples = 2, .classes = 29, .labels = 20},
           {.name = "large_logits",
           .frames = 12,
           .examples = 2,
           .classes = 7,
           .labels = 3,
           .logit_scale = 30}}) {
    cases.push_back(make_case(spec));
  }
  return cases;
}

}  // namespace bench
