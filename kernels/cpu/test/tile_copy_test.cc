#include "kernels/cpu/tile_copy.h"

#include <algorithm>
#include <numeric>

#include "kernels/cpu/test/kernel_test.h"
#include "models/base/errors.h"

namespace bench::cpu {
namespace {

using test::GuardedFloats;
using test::GuardedTensor;

constexpr std::size_t kTiles = 5;

/// The tiles in the opposite order.
TileOrder order_of(std::vector<std::uint16_t> elements) {
  TileOrder order{.tiles = std::vector<std::uint32_t>(kTiles), .elements = std::move(elements)};
  std::iota(order.tiles.rbegin(), order.tiles.rend(), 0);
  return order;
}

/// a b c ... A B C ... becomes a A b B c C ...
std::vector<std::uint16_t> joined_rows(std::size_t elements, std::size_t row) {
  std::vector<std::uint16_t> order(elements);
  for (std::size_t i = 0; i < elements; ++i) {
    const std::size_t in_two = i % (2 * row);
    order[i] = static_cast<std::uint16_t>(i - in_two + in_two % 2 * row + in_two / 2);
  }
  return order;
}

/// Pairs of neighbours in the opposite order, or single elements.
std::vector<std::uint16_t> reversed(std::size_t elements, std::size_t together) {
  std::vector<std::uint16_t> order(elements);
  for (std::size_t i = 0; i < elements; ++i) {
    order[i] =
        static_cast<std::uint16_t>(elements - together - i / together * together + i % together);
  }
  return order;
}

TEST(TileCopier, PutsEveryElementWhereTheOrderHasIt) {
  const std::vector<TileOrder> orders{
      order_of(joined_rows(32, 16)),   order_of(joined_rows(256, 16)),
      order_of(joined_rows(1024, 64)), order_of(joined_rows(64, 4)),
      order_of(reversed(16, 2)),       order_of(reversed(1024, 2)),
      order_of(reversed(8, 2)),        order_of(reversed(256, 1)),
      order_of(reversed(4, 1)),        order_of(reversed(64, 64))};
  for (const DType dtype : {DType::bf16, DType::f16}) {
    for (const TileOrder& order : orders) {
      const std::size_t tile = order.elements.size();
      const std::size_t count = kTiles * tile;
      const std::vector<float> values = test::random_floats(static_cast<std::int64_t>(count), 1);
      const GuardedFloats from(values);
      std::vector<float> expected(count);
      for (std::size_t i = 0; i < count; ++i) {
        expected[order.tiles[i / tile] * tile + i % tile] =
            values[i / tile * tile + order.elements[i % tile]];
      }
      const GuardedTensor to(dtype, static_cast<std::int64_t>(count));
      const TileCopier copier(order, dtype);
      auto* const copy = static_cast<std::uint16_t*>(to.data());
      copier.copy(from.data(), 0, 2 * tile, copy);
      copier.copy(from.data() + 2 * tile, 2 * tile, 3 * tile, copy);
      EXPECT_EQ(to.values(), test::rounded(dtype, expected)) << tile << " elements";
      EXPECT_TRUE(to.intact());
    }
  }
}

TEST(TileCopier, CopiesALineWhereTheOrderIsTheSame) {
  const std::vector<float> values = test::random_floats(37, 1);
  const GuardedFloats from(values);
  const GuardedTensor to(DType::bf16, 37);
  const TileOrder same;
  const TileCopier copier(same, DType::bf16);
  auto* const copy = static_cast<std::uint16_t*>(to.data());
  copier.copy(from.data(), 0, 16, copy);
  copier.copy(from.data() + 16, 16, 21, copy);
  EXPECT_EQ(to.values(), test::rounded(DType::bf16, values));
}

TEST(TileCopier, RefusesAnInvalidOrder) {
  const TileOrder odd = order_of(reversed(24, 1));
  EXPECT_THROW(TileCopier(odd, DType::bf16), InternalError);
  const TileOrder large = order_of(reversed(2048, 1));
  EXPECT_THROW(TileCopier(large, DType::bf16), InternalError);
  TileOrder twice = order_of(reversed(16, 1));
  twice.elements[3] = twice.elements[4];
  EXPECT_THROW(TileCopier(twice, DType::bf16), InternalError);
  TileOrder outside = order_of(reversed(16, 1));
  outside.tiles[0] = kTiles;
  EXPECT_THROW(TileCopier(outside, DType::bf16), InternalError);
}

}  // namespace
}  // namespace bench::cpu
