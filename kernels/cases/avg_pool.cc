#include "models/ops/pool.h"

#include "kernels/cases/cases.h"
#include "models/base/errors.h"

namespace bench {
namespace {

struct Spec {
  std::string name;
  Shape x;
  Window window = {};
  bool exact = false;
};

KernelCase make_case(const Spec& spec) {
  const InputFill integers{.kind = InputFill::Kind::integers, .scale = 8};
  return {.name = "avg_pool_" + spec.name,
          .op = &kAvgPool,
          .attributes = PoolAttributes{.window = spec.window, .input = spec.x},
          .inputs = {{.shape = spec.x}},
          .fills = {spec.exact ? integers : InputFill{}},
          .weights = {},
          .exact = spec.exact,
          .reduction = spec.window.kernel[0] * spec.window.kernel[1]};
}

}  // namespace

std::vector<KernelCase> avg_pool_cases() {
  const Window half{.kernel = {2, 2}, .stride = {2, 2}};
  std::vector<KernelCase> cases;
  for (const Spec& spec : std::vector<Spec>{
           {.name = "2x2_stride2", .x = {2, 16, 8, 8}, .window = half},
           {.name = "2x2_stride2_exact", .x = {2, 16, 8, 8}, .window = half, .exact = true},
           // The divisor is 4 in the corners, 6 along the edges, 9 inside.
           {.name = "3x3_padded",
           .x = {2, 16, 7, 7},
           .window = {.kernel = {3, 3}, .pad_before = {1, 1}, .pad_after = {1, 1}}},
           {.name = "3x3_stride2_asymmetric",
           .x = {2, 16, 8, 8},
           .window = {.kernel = {3, 3}, .stride = {2, 2}, .pad_after = {1, 1}}},
           {.name = "7x7_whole", .x = {2, 32, 7, 7}, .window = {.kernel = {7, 7}}},
           {.name = "8x8_whole", .x = {2, 24, 8, 8}, .window = {.kernel = {8, 8}}},
           {.name = "14x14_whole", .x = {2, 19, 14, 14}, .window = {.kernel = {14, 14}}},
           {.name = "1x1_stride2", .x = {2, 16, 8, 8}, .window = {.stride = {2, 2}}},
           {.name = "1x1_stride2_odd", .x = {2, 11, 7, 7}, .window = {.stride = {2, 2}}},
           {.name = "5x5_stride3",
           .x = {2, 16, 14, 14},
           .window = {.kernel = {5, 5}, .stride = {3, 3}}},
           {.name = "5x5_same",
           .x = {2, 16, 8, 8},
           .window = {.kernel = {5, 5}, .pad_before = {2, 2}, .pad_after = {2, 2}}},
           {.name = "4x4_stride2_same",
           .x = {2, 13, 9, 9},
           .window =
                {.kernel = {4, 4}, .stride = {2, 2}, .pad_before = {1, 1}, .pad_after = {2, 2}}},
           {.name = "2x2_stride2_rounded_up",
           .x = {2, 16, 7, 7},
           .window = {.kernel = {2, 2}, .stride = {2, 2}, .pad_after = {1, 1}}},
           {.name = "odd_channels",
           .x = {3, 5, 9, 7},
           .window =
                {.kernel = {3, 3}, .stride = {2, 2}, .pad_before = {1, 1}, .pad_after = {1, 1}}},
       }) {
    cases.push_back(make_case(spec));
  }
  for (const std::int64_t channels : kChannelCounts) {
    cases.push_back(
        make_case({.name = fmt::format("channels_{}", channels),
                   .x = {2, channels, 9, 7},
                   .window = {.kernel = {3, 3}, .stride = {2, 2}, .pad_after = {1, 1}}}));
  }
  return cases;
}

}  // namespace bench
