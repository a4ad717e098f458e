#include "models/ops/concat.h"

#include "kernels/cases/cases.h"

namespace bench {
namespace {

struct Spec {
  std::string name;
  std::int64_t batch = 2;
  std::vector<std::int64_t> channels;
  /// 0: matrices.
  std::int64_t height = 5;
  std::int64_t width = 3;
};

KernelCase make_case(const Spec& spec) {
  KernelCase result{.name = "concat_" + spec.name, .op = &kConcat, .exact = true};
  for (const std::int64_t channels : spec.channels) {
    result.inputs.push_back({.shape = spec.height == 0
                                          ? Shape{spec.batch, channels}
                                          : Shape{spec.batch, channels, spec.height, spec.width}});
    result.fills.emplace_back();
  }
  return result;
}

}  // namespace

std::vector<KernelCase> concat_cases() {
  std::vector<KernelCase> cases;
  for (const Spec& spec : std::vector<Spec>{
           {.name = "one", .channels = {16}},
           {.name = "one_odd", .channels = {5}},
           {.name = "two_blocks", .channels = {32, 16}},
           {.name = "two_half_blocks", .channels = {8, 24}},
           {.name = "two_odd", .channels = {3, 7}},
           {.name = "odd_offset_of_a_block", .channels = {13, 16}},
           {.name = "odd_behind_a_block", .channels = {16, 13}},
           {.name = "three", .channels = {48, 16, 32}},
           {.name = "five_mixed", .channels = {16, 1, 24, 5, 8}},
           {.name = "one_image", .batch = 1, .channels = {64, 32, 96}, .height = 8, .width = 8},
           {.name = "one_pixel", .batch = 3, .channels = {32, 10}, .height = 1, .width = 1},
           {.name = "matrices", .batch = 5, .channels = {16, 24, 3}, .height = 0},
           {.name = "wide", .batch = 3, .channels = {12, 192, 12}, .height = 7, .width = 9}}) {
    cases.push_back(make_case(spec));
  }
  return cases;
}

}  // namespace bench
