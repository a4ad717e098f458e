#include "models/ops/channel_shuffle.h"

#include "kernels/cases/cases.h"

namespace bench {
namespace {

KernelCase make_case(const std::string& name, const Shape& x, std::int64_t groups) {
  return {.name = "channel_shuffle_" + name,
          .op = &kChannelShuffle,
          .attributes = ChannelShuffleAttributes{.groups = groups},
          .inputs = {{.shape = x}},
          .fills = {{}},
          .exact = true};
}

}  // namespace

std::vector<KernelCase> channel_shuffle_cases() {
  return {make_case("two", {2, 32, 5, 3}, 2),           make_case("three", {2, 48, 5, 3}, 3),
          make_case("four", {2, 80, 4, 4}, 4),          make_case("two_of_116", {2, 116, 7, 7}, 2),
          make_case("three_of_240", {3, 240, 9, 7}, 3), make_case("three_odd", {3, 15, 7, 3}, 3),
          make_case("two_odd", {3, 10, 7, 3}, 2),       make_case("one", {2, 16, 5, 3}, 1),
          make_case("all", {2, 16, 5, 3}, 16),          make_case("one_image", {1, 64, 8, 8}, 2),
          make_case("one_pixel", {3, 18, 1, 1}, 3)};
}

}  // namespace bench
