#include "models/ops/lrn.h"

#include "kernels/cases/cases.h"
#include "models/base/errors.h"

namespace bench {
namespace {

struct Spec {
  std::string name;
  Shape x;
  LrnAttributes attributes = {};
};

KernelCase make_case(const Spec& spec) {
  return {.name = "lrn_" + spec.name,
          .op = &kLrn,
          .attributes = spec.attributes,
          .inputs = {{.shape = spec.x}},
          .fills = {{.scale = 2}},
          .weights = {},
          .reduction = 2 * spec.attributes.radius + 1};
}

}  // namespace

std::vector<KernelCase> lrn_cases() {
  // AlexNet for CIFAR-10.
  const LrnAttributes alexnet{.radius = 4, .bias = 1, .alpha = 0.001 / 9, .beta = 0.75};
  std::vector<KernelCase> cases;
  for (const Spec& spec : std::vector<Spec>{
           {.name = "alexnet", .x = {2, 64, 6, 6}, .attributes = alexnet},
           {.name = "fewer_channels_than_window", .x = {2, 5, 9, 9}, .attributes = alexnet},
           {.name = "window_of_all_channels", .x = {2, 9, 5, 5}, .attributes = alexnet},
           {.name = "square_root",
           .x = {2, 16, 5, 7},
           .attributes = {.radius = 2, .bias = 2, .alpha = 0.5, .beta = 0.5}},
           {.name = "radius1",
           .x = {3, 13, 3, 5},
           .attributes = {.radius = 1, .bias = 1, .alpha = 1, .beta = 0.75}},
           {.name = "one_channel",
           .x = {2, 1, 8, 9},
           .attributes = {.radius = 2, .bias = 1, .alpha = 1, .beta = 0.5}},
           {.name = "many_pixels",
           .x = {1, 8, 15, 17},
           .attributes = {.radius = 3, .bias = 1, .alpha = 0.1, .beta = 0.75}},
       }) {
    cases.push_back(make_case(spec));
  }
  for (const std::int64_t channels : kChannelCounts) {
    cases.push_back(make_case({.name = fmt::format("channels_{}", channels),
                               .x = {2, channels, 5, 7},
                               .attributes = alexnet}));
  }
  return cases;
}

}  // namespace bench
