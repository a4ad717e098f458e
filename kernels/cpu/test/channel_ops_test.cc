#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>

#include "kernels/cpu/batch_norm.h"
#include "kernels/cpu/channel_scale.h"
#include "kernels/cpu/channel_shuffle.h"
#include "kernels/cpu/channel_tiles.h"
#include "kernels/cpu/drop_path.h"
#include "kernels/cpu/join_rows.h"
#include "kernels/cpu/spatial_pad.h"
#include "kernels/cpu/test/kernel_test.h"

namespace bench::cpu {
namespace {

using test::close;
using test::GuardedFloats;
using test::place;
using test::random_floats;
using test::Scratch;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

TEST(Tiles, CoverEveryRangeInTheOrderOfMemory) {
  for (const ChannelView& view : test::views()) {
    SCOPED_TRACE(test::text(view));
    const ChannelTiling tiling = ChannelTiling::by_sample(view);
    const std::int64_t rows = tiling.batch * tiling.groups * tiling.rows;
    EXPECT_EQ(tile_grain(tiling) % tiling.row_grain(), 0);
    for (const std::int64_t step : {std::int64_t{1}, std::int64_t{5}, rows}) {
      std::int64_t next = 0;
      bool right = true;
      for (std::int64_t begin = 0; begin < rows; begin += step) {
        const Range range{.begin = begin, .end = std::min(rows, begin + step)};
        for_each_tile(tiling, range, [&](const Tile& tile) {
          const std::int64_t row =
              (tile.sample * tiling.groups + tile.group) * tiling.rows + tile.row;
          right = right && row == next && tile.offset == next * tiling.width &&
                  tile.row + tile.rows <= tiling.rows && tile.group < tiling.groups;
          next += tile.rows;
        });
      }
      EXPECT_TRUE(right);
      EXPECT_EQ(next, rows);
    }
  }
}

TEST(JoinRows, ConcatenatesPartsAndZeros) {
  struct Sizes {
    std::int64_t rows;
    std::vector<std::int64_t> widths;
  };
  for (const auto& [rows, widths] : std::vector<Sizes>{
           {1, {1}}, {1, {40000}}, {7, {3, 0, 5}}, {2, {5000, 1, 4099}}, {3001, {4, 3, 1, 9}}}) {
    test::for_teams([&, &rows = rows, &widths = widths](ThreadTeam& team) {
      // Each part but the second is inside rows that are two longer, from their second element on.
      std::vector<std::unique_ptr<GuardedFloats>> inputs;
      std::vector<RowPart> parts;
      std::vector<float> expected;
      std::int64_t total = 0;
      for (std::size_t i = 0; i < widths.size(); ++i) {
        const std::int64_t stride = widths[i] + 2;
        inputs.push_back(std::make_unique<GuardedFloats>(random_floats(rows * stride, i + 1)));
        parts.push_back({.x = i == 1 ? nullptr : inputs.back()->data() + 1,
                         .width = widths[i],
                         .stride = stride});
        total += widths[i];
      }
      for (std::int64_t row = 0; row < rows; ++row) {
        for (const RowPart& part : parts) {
          for (std::int64_t i = 0; i < part.width; ++i) {
            expected.push_back(
                part.x == nullptr ? 0 : static_cast<const float*>(part.x)[row * part.stride + i]);
          }
        }
      }
      const GuardedFloats y(rows * total);
      join_rows(team, {.rows = rows, .parts = parts, .y = y.data()});
      EXPECT_EQ(y.values(), expected);
      EXPECT_TRUE(y.intact());
    });
  }
}

TEST(ChannelShuffle, TransposesTheGroupsInEveryView) {
  for (const ChannelView& view : test::views()) {
    SCOPED_TRACE(test::text(view));
    const auto values = test::random_tensor(view, 1);
    for (const std::int64_t groups : {1, 2, 3, 7, 17, 32}) {
      if (view.channels % groups != 0) {
        continue;
      }
      const std::int64_t each = view.channels / groups;
      const auto sources = shuffle_sources(view, groups);
      test::for_teams([&](ThreadTeam& team) {
        const GuardedFloats x(values), y(view.elements());
        channel_shuffle(team, {.view = view, .sources = sources, .x = x.data(), .y = y.data()});
        bool equal = true;
        test::for_elements(view, [&](auto n, auto c, auto s) {
          const std::int64_t from = c % groups * each + c / groups;
          equal = equal && y[place(view, n, c, s)] == values[at(place(view, n, from, s))];
        });
        EXPECT_TRUE(equal) << groups << " groups";
        EXPECT_TRUE(y.intact());
        EXPECT_TRUE(test::padding_is_zero(view, y.values()));
      });
    }
  }
}

TEST(ChannelScale, ScalesEachSamplesChannelsInEveryViewAndInPlace) {
  for (const ChannelView& view : test::views()) {
    SCOPED_TRACE(test::text(view));
    const auto values = test::random_tensor(view, 1);
    for (const std::int64_t gap : {0, 3}) {
      const std::int64_t stride = view.channels + gap;
      // The last sample's scales end with the channels.
      const auto scales = random_floats(view.batch * stride - gap, 2);
      test::for_teams([&](ThreadTeam& team) {
        for (const bool in_place : {false, true}) {
          const GuardedFloats x(values), s(scales), apart(view.elements());
          const GuardedFloats& y = in_place ? x : apart;
          channel_scale(
              team,
              {.view = view, .x = x.data(), .s = s.data(), .s_stride = stride, .y = y.data()});
          bool equal = true;
          test::for_elements(view, [&](auto n, auto c, auto p) {
            const auto i = place(view, n, c, p);
            equal = equal && y[i] == values[at(i)] * scales[at(n * stride + c)];
          });
          EXPECT_TRUE(equal);
          EXPECT_TRUE(y.intact());
          EXPECT_TRUE(test::padding_is_zero(view, y.values()));
        }
      });
    }
  }
}

TEST(ChannelScaleBackward, SumsProductsOverSpaceInEveryView) {
  for (const ChannelView& view : test::views()) {
    SCOPED_TRACE(test::text(view));
    const auto dy_values = test::random_tensor(view, 1, 0.2F);
    const auto x_values = test::random_tensor(view, 2, 0.5F);
    std::vector<double> expected(at(view.batch * view.channels));
    test::for_elements(view, [&](auto n, auto c, auto s) {
      const auto i = at(place(view, n, c, s));
      expected[at(n * view.channels + c)] +=
          static_cast<double>(dy_values[i]) * static_cast<double>(x_values[i]);
    });
    test::for_teams([&](ThreadTeam& team) {
      const GuardedFloats dy(dy_values), x(x_values), ds(view.batch * view.channels);
      const Scratch scratch(channel_workspace_bytes(view, team.size()));
      channel_scale_backward(team, {.view = view,
                                    .dy = dy.data(),
                                    .x = x.data(),
                                    .ds = ds.data(),
                                    .workspace = scratch.data()});
      for (std::int64_t i = 0; i < ds.count(); ++i) {
        EXPECT_TRUE(close(static_cast<double>(ds[i]), expected[at(i)], 2e-5));
      }
      EXPECT_TRUE(ds.intact());
    });
  }
}

TEST(SpatialPad, AddsZerosAndTakesLinesAwayInEveryView) {
  constexpr std::int64_t kWidth = 3;
  const std::vector<SpatialPadAttributes> pads{{},
                                               {.before = {1, 2}, .after = {2, 1}},
                                               {.before = {0, -1}, .after = {1, -1}},
                                               {.before = {1, -2}, .after = {-1, 2}},
                                               {.before = {3, 4}, .after = {-1, -3}},
                                               {.before = {0, 5}, .after = {0, -4}},
                                               {.before = {0, -5}, .after = {2, 6}}};
  for (ChannelView x_view : test::views()) {
    const std::int64_t height = std::min<std::int64_t>(x_view.spatial, 6);
    x_view.spatial = height * kWidth;
    SCOPED_TRACE(test::text(x_view));
    const auto values = test::random_tensor(x_view, 1);
    for (const SpatialPadAttributes& pad : pads) {
      const std::int64_t y_height = height + pad.before[0] + pad.after[0];
      const std::int64_t y_width = kWidth + pad.before[1] + pad.after[1];
      ChannelView y_view = x_view;
      y_view.spatial = y_height * y_width;
      test::for_teams([&](ThreadTeam& team) {
        const GuardedFloats x(values), y(y_view.elements());
        spatial_pad(team, {.view = x_view,
                           .height = height,
                           .width = kWidth,
                           .pad = pad,
                           .x = x.data(),
                           .y = y.data()});
        bool equal = true;
        test::for_elements(y_view, [&](auto n, auto c, auto s) {
          const std::int64_t h = s / y_width - pad.before[0];
          const std::int64_t w = s % y_width - pad.before[1];
          const bool inside = h >= 0 && h < height && w >= 0 && w < kWidth;
          const float expected = inside ? values[at(place(x_view, n, c, h * kWidth + w))] : 0.0F;
          equal = equal && y[place(y_view, n, c, s)] == expected;
        });
        EXPECT_TRUE(equal);
        EXPECT_TRUE(y.intact());
        EXPECT_TRUE(test::padding_is_zero(y_view, y.values()));
      });
    }
  }
}

TEST(DropPath, KeepsOrDropsWholeExamplesAndIsTheSameForEveryTeam) {
  constexpr std::int64_t kExamples = 101;
  constexpr std::int64_t kElements = 203;
  const auto values = random_floats(kExamples * kElements, 1);
  struct Step {
    std::int32_t step;
    double keep;
  };
  for (const auto& [step, keep] :
       std::vector<Step>{{-1, 1}, {-7, 0.5}, {0, 1}, {2, 0.75}, {1000, 0.5}}) {
    SCOPED_TRACE(step);
    std::set<std::vector<float>> results;
    test::for_teams([&, &step = step, &keep = keep](ThreadTeam& team) {
      for (const bool in_place : {false, true}) {
        const GuardedFloats x(values), apart(kExamples * kElements);
        const GuardedFloats& y = in_place ? x : apart;
        drop_path(team, {.seed = 5,
                         .stream = 6,
                         .step = step,
                         .keep = keep,
                         .examples = kExamples,
                         .elements = kElements,
                         .x = x.data(),
                         .y = y.data()});
        EXPECT_TRUE(y.intact());
        results.insert(y.values());
      }
    });
    ASSERT_EQ(results.size(), 1U);
    const std::vector<float>& y = *results.begin();
    const double stays = step < 0 ? 1 : keep;
    const auto factor = static_cast<float>(1 / stays);
    std::int64_t kept = 0;
    for (std::int64_t n = 0; n < kExamples; ++n) {
      const bool keeps = y[at(n * kElements)] != 0;
      kept += keeps ? 1 : 0;
      bool right = true;
      for (std::int64_t i = n * kElements; i < (n + 1) * kElements; ++i) {
        right = right && y[at(i)] == (keeps ? values[at(i)] * factor : 0.0F);
      }
      EXPECT_TRUE(right) << "example " << n;
    }
    // Five standard deviations, and all examples if none may be dropped.
    const double mean = stays * kExamples;
    EXPECT_LE(std::abs(static_cast<double>(kept) - mean), 5 * std::sqrt(mean * (1 - stays)));
  }
}

TEST(ChannelOps, In16BitsRoundTheResultOnce) {
  for (const ChannelView& view : test::views()) {
    SCOPED_TRACE(test::text(view));
    const auto values = test::random_tensor(view, 1, 0.2F);
    const auto gradients = test::random_tensor(view, 2);
    const auto scales = random_floats(view.batch * (view.channels + 1) - 1, 3);
    test::expect_halves_follow_f32([&](test::Run& run) {
      const DType dtype = run.dtype();
      const void* const x = run.input(values);
      channel_scale(run.team(), {.view = view,
                                 .dtype = dtype,
                                 .x = x,
                                 .s = run.input(scales),
                                 .s_stride = view.channels + 1,
                                 .y = run.output(view)});
      channel_scale_backward(
          run.team(),
          {.view = view,
           .dtype = dtype,
           .dy = run.input(gradients),
           .x = x,
           .ds = run.output(view.batch * view.channels),
           .workspace = run.workspace(channel_workspace_bytes(view, run.team().size()))});
      for (const std::int32_t step : {-1, 3}) {
        drop_path(run.team(), {.dtype = dtype,
                               .seed = 5,
                               .stream = 6,
                               .step = step,
                               .keep = 0.6,
                               .examples = view.batch,
                               .elements = view.elements() / view.batch,
                               .x = x,
                               .y = run.output(view)});
      }
    });
  }
}

TEST(ChannelOps, CopyElementsOf16Bits) {
  for (const ChannelView& view : test::views()) {
    SCOPED_TRACE(test::text(view));
    const auto values = test::random_tensor(view, 1);
    const std::int64_t groups = view.channels % 3 == 0 ? 3 : view.channels % 2 == 0 ? 2 : 1;
    const auto sources = shuffle_sources(view, groups);
    const std::int64_t elements = view.elements();
    ChannelView padded = view;
    padded.spatial = view.spatial + 3;
    test::expect_halves_follow_f32([&](test::Run& run) {
      const DType dtype = run.dtype();
      const void* const x = run.input(values);
      channel_shuffle(
          run.team(),
          {.view = view, .sources = sources, .dtype = dtype, .x = x, .y = run.output(view)});
      spatial_pad(run.team(), {.view = view,
                               .height = 1,
                               .width = view.spatial,
                               .pad = {.before = {0, 1}, .after = {0, 2}},
                               .dtype = dtype,
                               .x = x,
                               .y = run.output(padded)});
      const std::array<RowPart, 3> parts{{{.x = x, .width = elements, .stride = elements},
                                          {.width = 3},
                                          {.x = x, .width = 1, .stride = 1}}};
      join_rows(run.team(),
                {.dtype = dtype, .rows = 1, .parts = parts, .y = run.output(elements + 4)});
    });
  }
}

}  // namespace
}  // namespace bench::cpu
