#include "models/ops/drop_path.h"

#include "kernels/cases/cases.h"

namespace bench {
namespace {

struct Spec {
  std::string name;
  Shape x;
  DropPathAttributes attributes = {};
  std::int32_t step = 0;
  /// True if the probability of this step is a power of two.
  bool exact = true;
};

KernelCase make_case(const Spec& spec) {
  return {
      .name = "drop_path_" + spec.name,
      .op = &kDropPath,
      .attributes = spec.attributes,
      .inputs = {{.shape = spec.x}, {.dtype = DType::s32, .shape = {}}},
      .fills = {{}, {.kind = InputFill::Kind::constant, .mean = static_cast<double>(spec.step)}},
      .exact = spec.exact};
}

}  // namespace

std::vector<KernelCase> drop_path_cases() {
  std::vector<KernelCase> cases;
  for (const Spec& spec : std::vector<Spec>{
           {.name = "half",
    .x = {16, 16, 3, 5},
    .attributes = {.keep = 0.5, .seed = 1, .stream = 2}},
           {.name = "most",
           .x = {11, 24, 4, 3},
           .attributes = {.keep = 0.8, .seed = 1, .stream = 2},
           .step = 7,
           .exact = false},
           {.name = "odd",
           .x = {13, 5, 7, 3},
           .attributes = {.keep = 0.5, .seed = 9, .stream = 5},
           .step = 100000},
           {.name = "wide_seed_and_stream",
           .x = {16, 7, 3, 3},
           .attributes = {.keep = 0.5, .seed = 0x123456789ABCDEF0, .stream = 0xFEDCBA9876543210},
           .step = 3},
           {.name = "not_training",
           .x = {6, 16, 3, 5},
           .attributes = {.keep = 0.5, .seed = 1, .stream = 2},
           .step = -1},
           {.name = "of_a_later_tower",
           .x = {6, 16, 3, 5},
           .attributes = {.keep = 0.5, .seed = 1, .stream = 2, .first_example = 18},
           .step = 3},
           {.name = "ramp_begins",
           .x = {6, 16, 3, 5},
           .attributes = {.keep = 0.25, .ramp_steps = 10, .seed = 1, .stream = 2}},
           {.name = "on_the_ramp",
           .x = {12, 13, 3, 5},
           .attributes = {.keep = 0.4, .ramp_steps = 10, .seed = 1, .stream = 2},
           .step = 7,
           .exact = false},
           {.name = "ramp_ended",
           .x = {12, 16, 9, 11},
           .attributes = {.keep = 0.5, .ramp_steps = 10, .seed = 1, .stream = 2},
           .step = 25},
           {.name = "all", .x = {2, 16, 3, 5}, .attributes = {.keep = 1}},
           {.name = "large",
           .x = {9, 48, 11, 11},
           .attributes = {.keep = 0.5, .seed = 3, .stream = 4},
           .step = 1},
       }) {
    cases.push_back(make_case(spec));
  }
  return cases;
}

}  // namespace bench
