#include "kernels/cases/cases.h"
#include "models/ops/channel_slice.h"

namespace bench {
namespace {

KernelCase make_case(const std::string& name, const Shape& x, const ChannelPadAttributes& pad) {
  return {.name = "channel_pad_" + name,
          .op = &kChannelPad,
          .attributes = pad,
          .inputs = {{.shape = x}},
          .fills = {{}},
          .exact = true};
}

}  // namespace

std::vector<KernelCase> channel_pad_cases() {
  return {make_case("blocks", {2, 32, 5, 3}, {.before = 16, .after = 32}),
          make_case("before", {2, 16, 5, 3}, {.before = 16, .after = 0}),
          make_case("after", {2, 16, 5, 3}, {.before = 0, .after = 48}),
          make_case("half_blocks", {2, 16, 5, 3}, {.before = 8, .after = 8}),
          make_case("within_a_block", {2, 16, 5, 3}, {.before = 3, .after = 13}),
          make_case("odd", {3, 5, 7, 3}, {.before = 1, .after = 2}),
          make_case("nothing", {2, 16, 5, 3}, {}),
          make_case("nothing_odd", {2, 7, 5, 3}, {}),
          make_case("matrix", {5, 16}, {.before = 16, .after = 8}),
          make_case("column", {9, 1}, {.before = 1}),
          make_case("one_pixel", {3, 10, 1, 1}, {.before = 5, .after = 1}),
          make_case("large", {3, 96, 9, 11}, {.before = 32, .after = 64})};
}

}  // namespace bench
