#include "models/ops/spatial_pad.h"

#include "kernels/cases/cases.h"
#include "models/base/errors.h"

namespace bench {
namespace {

KernelCase make_case(const std::string& name, const Shape& x, const SpatialPadAttributes& pad) {
  return {.name = "spatial_pad_" + name,
          .op = &kSpatialPad,
          .attributes = pad,
          .inputs = {{.shape = x}},
          .fills = {{}},
          .exact = true};
}

}  // namespace

std::vector<KernelCase> spatial_pad_cases() {
  std::vector<KernelCase> cases{
      make_case("around", {2, 16, 5, 3}, {.before = {1, 1}, .after = {1, 1}}),
      make_case("uneven", {2, 16, 5, 6}, {.before = {3, 0}, .after = {1, 2}}),
      make_case("around_odd", {3, 5, 7, 3}, {.before = {2, 3}, .after = {3, 2}}),
      make_case("image", {2, 3, 9, 9}, {.before = {3, 3}, .after = {3, 3}}),
      make_case("crop", {2, 16, 6, 5}, {.before = {-1, -1}, .after = {-1, -2}}),
      make_case("crop_odd", {3, 5, 7, 6}, {.before = {-2, 0}, .after = {0, -3}}),
      make_case("shift", {2, 32, 6, 6}, {.before = {-1, -1}, .after = {1, 1}}),
      make_case("shift_odd", {2, 7, 6, 5}, {.before = {1, -2}, .after = {-1, 2}}),
      make_case("mixed", {2, 24, 6, 5}, {.before = {2, -1}, .after = {-3, 2}}),
      make_case("nothing", {2, 16, 5, 3}, {}),
      make_case("from_one_pixel", {4, 16, 1, 1}, {.before = {1, 0}, .after = {0, 1}}),
      make_case("to_one_pixel", {4, 12, 3, 3}, {.before = {-1, -2}, .after = {-1, 0}}),
      make_case("large", {3, 40, 13, 17}, {.before = {1, 1}, .after = {1, 1}})};
  for (const std::int64_t channels : kChannelCounts) {
    cases.push_back(make_case(fmt::format("channels_{}", channels), {2, channels, 5, 7},
                              {.before = {1, 2}, .after = {0, 1}}));
  }
  return cases;
}

}  // namespace bench
