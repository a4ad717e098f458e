#include "models/ops/loss.h"

#include "kernels/cases/cases.h"

namespace bench {
namespace {

struct Spec {
  std::string name;
  std::int64_t rows = 0;
  std::int64_t classes = 0;
  std::int64_t k = 1;
  InputFill logits = {};
};

/// The rows are a power of two, so that the share of hits is exact, and enough that some hit.
KernelCase make_case(const Spec& spec) {
  return {
      .name = "top_k_accuracy_" + spec.name,
      .op = &kTopKAccuracy,
      .attributes = TopKAttributes{.k = spec.k},
      .inputs = {{.shape = {spec.rows, spec.classes}}, {.dtype = DType::s32, .shape = {spec.rows}}},
      .fills = {spec.logits,
                {.kind = InputFill::Kind::labels, .scale = static_cast<double>(spec.classes)}},
      .weights = {},
      .exact = true};
}

}  // namespace

std::vector<KernelCase> top_k_accuracy_cases() {
  std::vector<KernelCase> cases;
  for (const Spec& spec : std::vector<Spec>{
           {.name = "first", .rows = 64, .classes = 4},
           {.name = "five_of_ten", .rows = 64, .classes = 10, .k = 5},
           {.name = "ties",
           .rows = 64,
           .classes = 10,
           .k = 5,
           .logits = {.kind = InputFill::Kind::integers, .scale = 2}},
           {.name = "fewer_classes_than_k", .rows = 16, .classes = 3, .k = 5},
       }) {
    cases.push_back(make_case(spec));
  }
  return cases;
}

}  // namespace bench
