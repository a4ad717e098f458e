#include "models/ops/channel_scale.h"

#include "kernels/cases/cases.h"
#include "models/base/errors.h"

namespace bench {
namespace {

KernelCase make_case(const std::string& name, const Shape& x, bool exact) {
  const InputFill integers{.kind = InputFill::Kind::integers, .scale = 8};
  const InputFill fill = exact ? integers : InputFill{};
  return {.name = "channel_scale_" + name,
          .op = &kChannelScale,
          .inputs = {{.shape = x}, {.shape = {x[0], x[1], 1, 1}}},
          .fills = {fill, fill},
          .exact = exact,
          .reduction = x[2] * x[3]};
}

}  // namespace

std::vector<KernelCase> channel_scale_cases() {
  std::vector<KernelCase> cases{make_case("block", {2, 16, 5, 3}, false),
                                make_case("blocks", {2, 96, 7, 7}, false),
                                make_case("blocks_exact", {2, 48, 8, 8}, true),
                                make_case("half_blocks", {3, 24, 7, 7}, false),
                                make_case("odd", {3, 5, 7, 3}, false),
                                make_case("odd_exact", {3, 13, 7, 3}, true),
                                make_case("one_image", {1, 64, 9, 9}, false),
                                make_case("one_pixel", {4, 20, 1, 1}, true),
                                make_case("large_planes", {2, 7, 67, 71}, false)};
  for (const std::int64_t channels : kChannelCounts) {
    cases.push_back(make_case(fmt::format("channels_{}", channels), {2, channels, 5, 7}, false));
  }
  return cases;
}

}  // namespace bench
