#include "kernels/cpu/channel_view.h"

#include <vector>

#include "kernels/cpu/channel_plan.h"
#include "kernels/cpu/test/kernel_test.h"
#include "models/base/errors.h"

namespace bench::cpu {
namespace {

/// The channel of each memory position, kNone if it has no channel.
using Channels = std::vector<std::int64_t>;
constexpr std::int64_t kNone = -1;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Including padded channels.
Channels channels_of(ChannelView view) {
  view.channels = view.padded_channels();
  Channels channels(at(view.elements()), kNone);
  test::for_elements(view, [&](std::int64_t n, std::int64_t c, std::int64_t s) {
    channels[at(test::place(view, n, c, s))] = c;
  });
  return channels;
}

TEST(ChannelTiling, PiecesCoverEveryPlaceOfItsChannelOnceInBothDirections) {
  for (const ChannelView& view : test::views()) {
    SCOPED_TRACE(test::text(view));
    const Channels expected = channels_of(view);
    for (const ChannelTiling& tiling :
         {ChannelTiling::joined(view), ChannelTiling::by_sample(view)}) {
      for (const std::int64_t most_rows : {1, 3, 10000}) {
        Channels forwards(expected.size(), kNone);
        Channels backwards(expected.size(), kNone);
        bool once = true;
        const auto collect = [&](Channels& into, const Piece& piece) {
          once = once && piece.rows <= most_rows;
          for (std::int64_t i = 0; i < piece.rows * tiling.width; ++i) {
            once = once && into.at(at(piece.offset + i)) == kNone;
            into.at(at(piece.offset + i)) = piece.group * tiling.width + i % tiling.width;
          }
        };
        for (int part = 0; part < 3; ++part) {
          const Range rows = ThreadTeam::split(tiling.all_rows(), 3, part);
          for_each_piece(tiling, rows, most_rows,
                         [&](const Piece& piece) { collect(forwards, piece); });
          for_each_piece_backwards(tiling, rows, most_rows,
                                   [&](const Piece& piece) { collect(backwards, piece); });
        }
        EXPECT_TRUE(once);
        EXPECT_EQ(forwards, expected);
        EXPECT_EQ(backwards, expected);
      }
    }
  }
}

TEST(ChannelTiling, RefusesBlocksItHasNoRoomFor) {
  ChannelView view{.batch = 1, .channels = 3, .kind = ChannelView::Kind::blocked, .block = 65};
  EXPECT_THROW(ChannelTiling::joined(view), InternalError);
  view.block = 0;
  EXPECT_THROW(ChannelTiling::joined(view), InternalError);
}

TEST(RowPlan, CountsEveryRowOfAGroupOnce) {
  for (const ChannelView& view : test::views()) {
    SCOPED_TRACE(test::text(view));
    const ChannelTiling tiling = ChannelTiling::joined(view);
    for (int threads = 1; threads <= 7; ++threads) {
      const RowPlan plan(tiling, threads);
      for (std::int64_t group = 0; group < tiling.groups; ++group) {
        std::int64_t rows = 0;
        for (int thread = 0; thread < threads; ++thread) {
          rows += plan.rows(thread, group);
        }
        EXPECT_EQ(rows, tiling.group_rows());
      }
    }
  }
}

TEST(RowPlan, SplitsGroupsIfThreadsWouldBeIdle) {
  const ChannelTiling four{.batch = 1, .groups = 4, .rows = 9, .width = 16, .channels = 64};
  EXPECT_TRUE(RowPlan(four, 1).whole_groups());
  EXPECT_TRUE(RowPlan(four, 2).whole_groups());
  EXPECT_FALSE(RowPlan(four, 3).whole_groups());
  EXPECT_TRUE(RowPlan(four, 4).whole_groups());
  EXPECT_FALSE(RowPlan(four, 5).whole_groups());
}

}  // namespace
}  // namespace bench::cpu
