#include "variable_mgmt/gradients/narrow_gradients.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "kernels/reference/reference_backend.h"
#include "models/base/errors.h"
#include "variable_mgmt/gradients/gradient_sums.h"
#include "variable_mgmt/strategies/test/joined_towers.h"

namespace bench {
namespace {

constexpr std::uintptr_t kAlignment = 64;

struct LoneTower {
  std::unique_ptr<Backend> backend = make_reference_backend();
  Tower tower{add_backward(joined_network(0, 1, DType::f32), "loss"), *backend,
              ExecutorOptions{.format = DataFormat::nchw},
              initial_values(joined_network(0, 1, DType::f32), 7)};

  /// One piece per gradient.
  std::vector<FlatPiece> pieces() {
    const SumSettings each{.buckets = {.bytes = 1, .first_bytes = 1}, .narrow = DType::bf16};
    std::vector<FlatPiece> result;
    for (const SumPiece& piece : sum_pieces(tower.executor().segments(), DType::f32, each)) {
      result.push_back(piece.bytes);
    }
    return result;
  }
};

TEST(NarrowGradients, HaveAlignedCopiesOfThePlannedSize) {
  LoneTower lone;
  const std::vector<FlatPiece> pieces = lone.pieces();
  ASSERT_GT(pieces.size(), 3U);
  NarrowGradients narrow(lone.tower, DType::bf16, pieces);
  std::uintptr_t begin = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::size_t lead = pieces[i].offset % kAlignment / sizeof(float);
    const auto copy =
        reinterpret_cast<std::uintptr_t>(narrow.narrow(i)) - lead * sizeof(std::uint16_t);
    EXPECT_EQ(copy % kAlignment, 0U) << i;
    begin = i == 0 ? copy : begin;
    EXPECT_EQ(copy, begin) << i << " follows the previous one";
    begin += NarrowGradients::bytes(pieces[i]);
    const std::size_t elements = lead + pieces[i].bytes / sizeof(float);
    EXPECT_GE(NarrowGradients::bytes(pieces[i]), elements * sizeof(std::uint16_t)) << i;
  }
}

TEST(NarrowGradients, AreOf16Bits) {
  LoneTower lone;
  EXPECT_THROW(NarrowGradients(lone.tower, DType::f32, lone.pieces()), InternalError);
}

}  // namespace
}  // namespace bench
