#include "kernels/cpu/dropout.h"

#include "kernels/cpu/test/kernel_test.h"
#include "models/base/philox.h"

namespace bench::cpu {
namespace {

using test::GuardedFloats;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

constexpr DropoutAttributes kAttributes{
    .keep = 0.7, .seed = 0x123456789ABCDEF0, .stream = 0x0FEDCBA987654321};

/// y of the element with that canonical index.
float expected_of(float x, std::int64_t index, std::int32_t step) {
  const auto words = philox4x32(
      {static_cast<std::uint32_t>(index / 4), 0, 0x87654321, static_cast<std::uint32_t>(step)},
      {0x9ABCDEF0, 0x0FEDCBA9});
  const double uniform = static_cast<double>(words[at(index % 4)] >> 8U) * 0x1.0p-24;
  return uniform < 0.7 ? x * static_cast<float>(1 / 0.7) : 0;
}

TEST(Dropout, KeepsWhatTheFormulaKeepsInEveryView) {
  for (const ChannelView& view : test::views()) {
    SCOPED_TRACE(test::text(view));
    const auto values = test::random_tensor(view, 1);
    for (const std::int32_t step : {0, 7}) {
      std::vector<float> expected(values.size(), 0);
      std::int64_t index = 0;
      test::for_elements(view, [&](auto n, auto c, auto s) {
        const std::size_t i = at(test::place(view, n, c, s));
        expected[i] = expected_of(values[i], index++, step);
      });
      test::for_teams([&](ThreadTeam& team) {
        const GuardedFloats x(values), y(view.elements());
        Dropout args{
            .attributes = kAttributes, .step = step, .view = view, .x = x.data(), .y = y.data()};
        dropout(team, args);
        EXPECT_EQ(y.values(), expected);
        EXPECT_TRUE(y.intact());
        args.y = x.data();
        dropout(team, args);
        EXPECT_EQ(x.values(), expected);
      });
    }
  }
}

TEST(Dropout, KeepsEverythingAtOneAndInANegativeStep) {
  test::for_teams([](ThreadTeam& team) {
    const auto values = test::random_floats(1000, 1);
    const ChannelView view{.batch = 10, .channels = 100};
    const GuardedFloats x(values), y(1000);
    dropout(team, {.attributes = {.keep = 1}, .view = view, .x = x.data(), .y = x.data()});
    EXPECT_EQ(x.values(), values);
    dropout(team,
            {.attributes = kAttributes, .step = -1, .view = view, .x = x.data(), .y = y.data()});
    EXPECT_EQ(y.values(), values);
  });
}

TEST(Dropout, DropsNanToo) {
  test::for_teams([](ThreadTeam& team) {
    const GuardedFloats x(64);
    const ChannelView view{.batch = 1, .channels = 64};
    dropout(team, {.attributes = {.keep = 0.5}, .view = view, .x = x.data(), .y = x.data()});
    std::int64_t dropped = 0;
    for (std::int64_t i = 0; i < x.count(); ++i) {
      dropped += x[i] == 0 ? 1 : 0;
    }
    EXPECT_GT(dropped, 16);
    EXPECT_LT(dropped, 48);
  });
}

TEST(Dropout, In16BitsRoundsTheResultOnce) {
  for (const ChannelView& view : test::views()) {
    SCOPED_TRACE(test::text(view));
    const auto values = test::random_tensor(view, 1);
    test::expect_halves_follow_f32([&](test::Run& run) {
      void* const x = run.overwritten(values);
      for (const std::int32_t step : {-1, 7}) {
        dropout(run.team(), {.attributes = kAttributes,
                             .step = step,
                             .view = view,
                             .dtype = run.dtype(),
                             .x = x,
                             .y = step < 0 ? run.output(view) : x});
      }
    });
  }
}

}  // namespace
}  // namespace bench::cpu
