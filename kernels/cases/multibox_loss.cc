#include "models/ops/multibox_loss.h"

#include "kernels/cases/cases.h"

namespace bench {
namespace {

struct Spec {
  std::string name;
  std::int64_t examples = 0;
  std::int64_t anchors = 0;
  std::int64_t classes = 0;
  InputFill::Kind matches = InputFill::Kind::mostly_background;
};

KernelCase make_case(const Spec& spec) {
  const Shape offsets{spec.examples, spec.anchors, 4};
  return {.name = "multibox_loss_" + spec.name,
          .op = &kMultiboxLoss,
          .inputs = {{.shape = offsets},
                     {.shape = {spec.examples, spec.anchors, spec.classes}},
                     {.shape = offsets},
                     {.dtype = DType::s32, .shape = {spec.examples, spec.anchors}}},
          .fills = {{},
                    {.scale = 3},
                    {},
                    {.kind = spec.matches, .mean = 1, .scale = static_cast<double>(spec.classes)}},
          .constants = {2},
          .reduction = spec.anchors};
}

}  // namespace

std::vector<KernelCase> multibox_loss_cases() {
  std::vector<KernelCase> cases;
  for (const Spec& spec :
       std::vector<Spec>{{.name = "coco", .examples = 2, .anchors = 300, .classes = 81},
                         {.name = "small", .examples = 3, .anchors = 200, .classes = 5},
                         // There are too few background anchors.
                         {.name = "matched",
                         .examples = 2,
                         .anchors = 9,
                         .classes = 3,
                         .matches = InputFill::Kind::labels},
                         {.name = "one_anchor",
                         .examples = 2,
                         .anchors = 1,
                         .classes = 2,
                         .matches = InputFill::Kind::constant}}) {
    cases.push_back(make_case(spec));
  }
  return cases;
}

}  // namespace bench
