#include "models/ops/dropout.h"

#include "kernels/cases/cases.h"

namespace bench {
namespace {

struct Spec {
  std::string name;
  Shape x;
  DropoutAttributes attributes = {};
  std::int32_t step = 0;
};

KernelCase make_case(const Spec& spec) {
  return {
      .name = "dropout_" + spec.name,
      .op = &kDropout,
      .attributes = spec.attributes,
      .inputs = {{.shape = spec.x}, {.dtype = DType::s32, .shape = {}}},
      .fills = {{}, {.kind = InputFill::Kind::constant, .mean = static_cast<double>(spec.step)}},
      .weights = {},
      .exact = spec.attributes.keep == 0.5};
}

}  // namespace

std::vector<KernelCase> dropout_cases() {
  std::vector<KernelCase> cases;
  for (const Spec& spec : std::vector<Spec>{
           {.name = "half", .x = {4, 64}, .attributes = {.keep = 0.5, .seed = 1, .stream = 2}},
           {.name = "most",
           .x = {4, 64},
           .attributes = {.keep = 0.8, .seed = 1, .stream = 2},
           .step = 7},
           {.name = "odd",
           .x = {3, 37},
           .attributes = {.keep = 0.5, .seed = 9, .stream = 5},
           .step = 100000},
           {.name = "wide_seed_and_stream",
           .x = {2, 129},
           .attributes = {.keep = 0.5, .seed = 0x123456789ABCDEF0, .stream = 0xFEDCBA9876543210},
           .step = 3},
           {.name = "of_a_later_tower",
           .x = {3, 37},
           .attributes = {.keep = 0.5, .seed = 1, .stream = 2, .first_element = 111},
           .step = 7},
           {.name = "image_of_a_later_tower",
           .x = {2, 32, 6, 6},
           .attributes = {.keep = 0.5, .seed = 1, .stream = 2, .first_element = 2304},
           .step = 4},
           {.name = "image_far_behind",
           .x = {3, 8, 4, 4},
           .attributes = {.keep = 0.5, .seed = 1, .stream = 2, .first_element = 0x4'0000'0003},
           .step = 4},
           {.name = "all", .x = {2, 32}, .attributes = {.keep = 1}},
           {.name = "negative_step",
           .x = {4, 64},
           .attributes = {.keep = 0.5, .seed = 1, .stream = 2},
           .step = -1},
           {.name = "image",
           .x = {2, 32, 6, 6},
           .attributes = {.keep = 0.5, .seed = 1, .stream = 2},
           .step = 4},
           {.name = "image_most",
           .x = {3, 16, 5, 7},
           .attributes = {.keep = 0.8, .seed = 1, .stream = 2},
           .step = 4},
           {.name = "image_odd",
           .x = {3, 5, 7, 3},
           .attributes = {.keep = 0.5, .seed = 1, .stream = 2},
           .step = 4},
           {.name = "image_one_pixel",
           .x = {3, 40, 1, 1},
           .attributes = {.keep = 0.5, .seed = 1, .stream = 2}},
           {.name = "image_negative_step",
           .x = {2, 32, 6, 6},
           .attributes = {.keep = 0.5, .seed = 1, .stream = 2},
           .step = -1},
       }) {
    cases.push_back(make_case(spec));
  }
  return cases;
}

}  // namespace bench
