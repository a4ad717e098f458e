#include "kernels/cpu/lrn.h"

#include "kernels/cpu/test/kernel_test.h"
#include "models/base/errors.h"

namespace bench::cpu {
namespace {

using test::close;
using test::GuardedFloats;
using test::Scratch;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Everything about one normalisation in double.
struct Oracle {
  ChannelView view;
  LrnAttributes attributes;
  std::vector<float> x;
  std::vector<float> dy;

  [[nodiscard]] double of(const std::vector<float>& values, std::int64_t n, std::int64_t c,
                          std::int64_t s) const {
    return static_cast<double>(values[at(test::place(view, n, c, s))]);
  }
  /// The sum of term(j) over the channels near c.
  template <class Term>
  [[nodiscard]] double around(std::int64_t c, const Term& term) const {
    double sum = 0;
    for (std::int64_t j = 0; j < view.channels; ++j) {
      sum += std::abs(j - c) <= attributes.radius ? term(j) : 0;
    }
    return sum;
  }
  [[nodiscard]] double divisor(std::int64_t n, std::int64_t c, std::int64_t s) const {
    const double sum = around(c, [&](std::int64_t j) { return of(x, n, j, s) * of(x, n, j, s); });
    return attributes.bias + attributes.alpha * sum;
  }
  [[nodiscard]] double y(std::int64_t n, std::int64_t c, std::int64_t s) const {
    return of(x, n, c, s) * std::pow(divisor(n, c, s), -attributes.beta);
  }
  [[nodiscard]] double dx(std::int64_t n, std::int64_t c, std::int64_t s) const {
    const double through = around(c, [&](std::int64_t i) {
      return of(dy, n, i, s) * of(x, n, i, s) * std::pow(divisor(n, i, s), -attributes.beta - 1);
    });
    return of(dy, n, c, s) * std::pow(divisor(n, c, s), -attributes.beta) -
           2 * attributes.alpha * attributes.beta * of(x, n, c, s) * through;
  }
};

std::vector<Oracle> oracles() {
  std::vector<Oracle> all;
  const std::vector<LrnAttributes> attributes{
      {.radius = 4, .bias = 1, .alpha = 0.001 / 9, .beta = 0.75},
      {.radius = 2, .bias = 2, .alpha = 0.3, .beta = 0.5},
      {.radius = 0, .bias = 1, .alpha = 1, .beta = 1}};
  for (ChannelView view : test::views()) {
    // In double every element costs the square of the radius.
    if (view.kind == ChannelView::Kind::blocked || view.elements() > 3000) {
      continue;
    }
    for (const LrnAttributes& each : attributes) {
      all.push_back({.view = view,
                     .attributes = each,
                     .x = test::random_tensor(view, 1),
                     .dy = test::random_tensor(view, 2)});
    }
  }
  return all;
}

template <class Expected>
void expect_elements(const ChannelView& view, const GuardedFloats& given,
                     const Expected& expected) {
  test::for_elements(view, [&](auto n, auto c, auto s) {
    EXPECT_TRUE(
        close(static_cast<double>(given[test::place(view, n, c, s)]), expected(n, c, s), 1e-6));
  });
  EXPECT_TRUE(given.intact());
}

TEST(Lrn, EqualsDoubleApartAndInPlace) {
  for (const Oracle& oracle : oracles()) {
    SCOPED_TRACE(test::text(oracle.view));
    test::for_teams([&](ThreadTeam& team) {
      for (const bool in_place : {false, true}) {
        const GuardedFloats x(oracle.x), apart(oracle.view.elements());
        const GuardedFloats& y = in_place ? x : apart;
        const Scratch scratch(lrn_workspace_bytes(oracle.view, oracle.attributes, team.size()));
        lrn(team, {.view = oracle.view,
                   .attributes = oracle.attributes,
                   .x = x.data(),
                   .y = y.data(),
                   .workspace = scratch.data()});
        expect_elements(oracle.view, y, [&](auto n, auto c, auto s) { return oracle.y(n, c, s); });
      }
    });
  }
}

TEST(LrnBackward, EqualsDoubleApartAndInPlace) {
  for (const Oracle& oracle : oracles()) {
    SCOPED_TRACE(test::text(oracle.view));
    test::for_teams([&](ThreadTeam& team) {
      for (int overwritten = 0; overwritten < 3; ++overwritten) {
        const GuardedFloats x(oracle.x), dy(oracle.dy), apart(oracle.view.elements());
        const GuardedFloats& dx = overwritten == 0 ? apart : overwritten == 1 ? dy : x;
        const Scratch scratch(lrn_workspace_bytes(oracle.view, oracle.attributes, team.size()));
        lrn_backward(team, {.view = oracle.view,
                            .attributes = oracle.attributes,
                            .dy = dy.data(),
                            .x = x.data(),
                            .dx = dx.data(),
                            .workspace = scratch.data()});
        expect_elements(oracle.view, dx,
                        [&](auto n, auto c, auto s) { return oracle.dx(n, c, s); });
      }
    });
  }
}

TEST(Lrn, RefusesBlockedChannels) {
  ThreadTeam team({0}, false);
  const ChannelView view{
      .batch = 1, .channels = 16, .spatial = 1, .kind = ChannelView::Kind::blocked};
  EXPECT_THROW(lrn_workspace_bytes(view, {}, 1), InternalError);
}

TEST(Lrn, In16BitsRoundsTheResultOnce) {
  for (const Oracle& oracle : oracles()) {
    SCOPED_TRACE(test::text(oracle.view));
    test::expect_halves_follow_f32([&](test::Run& run) {
      void* const scratch =
          run.workspace(lrn_workspace_bytes(oracle.view, oracle.attributes, run.team().size()));
      const void* const x = run.input(oracle.x);
      lrn(run.team(), {.view = oracle.view,
                       .attributes = oracle.attributes,
                       .dtype = run.dtype(),
                       .x = x,
                       .y = run.output(oracle.view),
                       .workspace = scratch});
      void* const dy = run.overwritten(oracle.dy);
      lrn_backward(run.team(), {.view = oracle.view,
                                .attributes = oracle.attributes,
                                .dtype = run.dtype(),
                                .dy = dy,
                                .x = x,
                                .dx = dy,
                                .workspace = scratch});
    });
  }
}

}  // namespace
}  // namespace bench::cpu
