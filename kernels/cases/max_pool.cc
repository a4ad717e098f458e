#include "models/ops/pool.h"

#include "kernels/cases/cases.h"
#include "models/base/errors.h"

namespace bench {
namespace {

struct Spec {
  std::string name;
  Shape x;
  Window window = {};
  /// Distinct values, or whole numbers with many ties.
  bool ties = false;
};

KernelCase make_case(const Spec& spec) {
  const InputFill distinct{.kind = InputFill::Kind::distinct};
  const InputFill ties{.kind = InputFill::Kind::integers, .scale = 2};
  return {.name = "max_pool_" + spec.name,
          .op = &kMaxPool,
          .attributes = PoolAttributes{.window = spec.window, .input = spec.x},
          .inputs = {{.shape = spec.x}},
          .fills = {spec.ties ? ties : distinct},
          .weights = {},
          .exact = spec.ties,
          .smooth = !spec.ties,
          .reduction = spec.window.kernel[0] * spec.window.kernel[1]};
}

}  // namespace

std::vector<KernelCase> max_pool_cases() {
  const Window resnet{.kernel = {3, 3}, .stride = {2, 2}, .pad_after = {1, 1}};
  const Window half{.kernel = {2, 2}, .stride = {2, 2}};
  const Window dense{.kernel = {3, 3}, .pad_before = {1, 1}, .pad_after = {1, 1}};
  std::vector<KernelCase> cases;
  for (const Spec& spec : std::vector<Spec>{
           {.name = "3x3_stride2_asymmetric", .x = {2, 16, 10, 10}, .window = resnet},
           {.name = "3x3_stride2_asymmetric_ties",
           .x = {2, 16, 10, 10},
           .window = resnet,
           .ties = true},
           {.name = "3x3_stride2_symmetric",
           .x = {2, 16, 9, 9},
           .window =
                {.kernel = {3, 3}, .stride = {2, 2}, .pad_before = {1, 1}, .pad_after = {1, 1}}},
           {.name = "2x2_stride2", .x = {2, 32, 8, 6}, .window = half},
           {.name = "2x2_stride2_ties", .x = {2, 32, 8, 6}, .window = half, .ties = true},
           {.name = "3x3_dense", .x = {2, 16, 7, 7}, .window = dense},
           {.name = "3x3_dense_ties", .x = {2, 16, 7, 7}, .window = dense, .ties = true},
           // Rounded up: the last window hangs over the edge.
           {.name = "3x3_stride2_rounded_up",
           .x = {2, 16, 12, 11},
           .window = {.kernel = {3, 3}, .stride = {2, 2}, .pad_after = {1, 0}}},
           {.name = "2x2_stride2_rounded_up",
           .x = {2, 5, 7, 7},
           .window = {.kernel = {2, 2}, .stride = {2, 2}, .pad_after = {1, 1}}},
           {.name = "1x1_stride2", .x = {2, 16, 7, 7}, .window = {.stride = {2, 2}}},
           {.name = "5x5_dense_same",
           .x = {2, 16, 8, 8},
           .window = {.kernel = {5, 5}, .pad_before = {2, 2}, .pad_after = {2, 2}}},
           {.name = "odd_channels", .x = {3, 5, 9, 7}, .window = resnet},
       }) {
    cases.push_back(make_case(spec));
  }
  for (const std::int64_t channels : kChannelCounts) {
    cases.push_back(make_case({.name = fmt::format("channels_{}", channels),
                               .x = {2, channels, 9, 7},
                               .window = resnet}));
  }
  return cases;
}

}  // namespace bench
