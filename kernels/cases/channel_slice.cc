#include "models/ops/channel_slice.h"

#include "kernels/cases/cases.h"

namespace bench {
namespace {

KernelCase make_case(const std::string& name, const Shape& x, std::int64_t begin,
                     std::int64_t count) {
  return {.name = "channel_slice_" + name,
          .op = &kChannelSlice,
          .attributes = ChannelSliceAttributes{.begin = begin, .count = count},
          .inputs = {{.shape = x}},
          .fills = {{}},
          .exact = true};
}

}  // namespace

std::vector<KernelCase> channel_slice_cases() {
  return {make_case("first_blocks", {2, 48, 5, 3}, 0, 32),
          make_case("middle_block", {2, 48, 5, 3}, 16, 16),
          make_case("last_blocks", {1, 64, 8, 8}, 32, 32),
          make_case("half_blocks", {2, 32, 5, 3}, 8, 24),
          make_case("begins_within_a_block", {2, 48, 5, 3}, 5, 16),
          make_case("ends_within_a_block", {2, 48, 5, 3}, 16, 13),
          make_case("odd", {3, 13, 7, 3}, 4, 7),
          make_case("one_channel", {2, 5, 6, 6}, 3, 1),
          make_case("all", {2, 16, 5, 3}, 0, 16),
          make_case("one_pixel", {3, 20, 1, 1}, 3, 12),
          make_case("matrix", {5, 48}, 16, 24),
          make_case("matrix_blocks", {5, 64}, 16, 32),
          make_case("large", {3, 204, 9, 7}, 12, 180)};
}

}  // namespace bench
