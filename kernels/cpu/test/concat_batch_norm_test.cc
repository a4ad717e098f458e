#include "kernels/cpu/concat_batch_norm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <numeric>

#include "kernels/cpu/test/kernel_test.h"
#include "models/base/errors.h"

namespace bench::cpu {
namespace {

using test::GuardedFloats;
using test::GuardedMemory;
using test::place;
using test::random_floats;
using test::Scratch;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// A tensor, its channels divided into parts, and the vectors.
struct Parts {
  Parts(const ChannelView& whole, const std::vector<std::int64_t>& channels)
      : view(whole),
        x(test::random_tensor(whole, 1, 0.5F, 1.5F)),
        gamma(random_floats(whole.channels, 2, 1)),
        beta(random_floats(whole.channels, 3)),
        mean(random_floats(whole.channels, 4)),
        variance(random_floats(whole.channels, 5, 0.5F)) {
    std::ranges::transform(variance, variance.begin(), [](float v) { return std::abs(v); });
    x[at(place(view, 0, 0, 0))] = std::numeric_limits<float>::quiet_NaN();
    std::int64_t begin = 0;
    for (const std::int64_t count : channels) {
      ChannelView part = view;
      part.channels = count;
      std::vector<float> values(at(part.elements()));
      test::for_elements(part, [&](auto n, auto c, auto s) {
        values[at(place(part, n, c, s))] = x[at(place(view, n, begin + c, s))];
      });
      memory.emplace_back(values);
      parts.push_back({.x = memory.back().data(), .channels = count});
      begin += count;
    }
  }

  [[nodiscard]] ConcatBatchNorm joined() const {
    return {.view = view,
            .parts = parts,
            .gamma = gamma.data(),
            .beta = beta.data(),
            .mean = mean.data(),
            .variance = variance.data()};
  }
  /// The inference on the whole tensor.
  [[nodiscard]] std::vector<float> inference(ThreadTeam& team, ActivationKind activation) const {
    std::vector<float> y(x.size());
    const Scratch scratch(channel_workspace_bytes(view, team.size()));
    batch_norm_inference(team, {.view = view,
                                .x = x.data(),
                                .gamma = gamma.data(),
                                .beta = beta.data(),
                                .mean = mean.data(),
                                .variance = variance.data(),
                                .activation = activation,
                                .y = y.data(),
                                .workspace = scratch.data()});
    return y;
  }

  ChannelView view;
  std::vector<float> x, gamma, beta, mean, variance;
  std::deque<GuardedFloats> memory;
  std::vector<ChannelPart> parts;
};

struct Sizes {
  ChannelView view;
  std::vector<std::int64_t> channels;
};

/// In every layout, with whole blocks where they are needed.
std::vector<Sizes> sizes() {
  using Kind = ChannelView::Kind;
  std::vector<Sizes> all;
  const auto add = [&](Kind kind, int block, const std::vector<std::int64_t>& channels) {
    const auto sum = std::accumulate(channels.begin(), channels.end(), std::int64_t{0});
    for (const std::int64_t spatial : {1, 9, 700}) {
      all.push_back(
          {.view = {.batch = 3, .channels = sum, .spatial = spatial, .kind = kind, .block = block},
           .channels = channels});
    }
  };
  for (const Kind kind : {Kind::nchw, Kind::nhwc}) {
    for (const auto& channels :
         std::vector<std::vector<std::int64_t>>{{16}, {64, 32, 32}, {5, 1, 7}, {3, 20}}) {
      add(kind, 16, channels);
    }
  }
  add(Kind::blocked, 16, {16});
  add(Kind::blocked, 16, {64, 32, 32});
  add(Kind::blocked, 8, {8, 24, 16});
  return all;
}

constexpr auto kActivations = {ActivationKind::none, ActivationKind::relu, ActivationKind::relu6};

TEST(ConcatBatchNorm, HasTheBitsOfTheInferenceOnTheConcat) {
  for (const auto& [view, channels] : sizes()) {
    SCOPED_TRACE(test::text(view));
    const Parts parts(view, channels);
    test::for_teams([&](ThreadTeam& team) {
      for (const ActivationKind activation : kActivations) {
        const GuardedFloats y(view.elements());
        const Scratch scratch(channel_workspace_bytes(view, team.size()));
        ConcatBatchNorm args = parts.joined();
        args.activation = activation;
        args.y = y.data();
        args.workspace = scratch.data();
        concat_batch_norm(team, args);
        const std::vector<float> expected = parts.inference(team, activation);
        EXPECT_EQ(std::memcmp(y.data(), expected.data(), expected.size() * sizeof(float)), 0);
        EXPECT_TRUE(y.intact());
        EXPECT_TRUE(std::isnan(y[place(view, 0, 0, 0)]));
      }
    });
  }
}

/// 0 where a number is NaN, which has no quantum.
template <class T>
std::vector<T> quanta_of(const std::vector<float>& real, float inverse_quantum) {
  std::vector<T> quanta;
  for (const float number : real) {
    const float nearest = std::nearbyint(number * inverse_quantum);
    const auto low = static_cast<float>(std::numeric_limits<T>::lowest());
    const auto high = static_cast<float>(std::numeric_limits<T>::max());
    quanta.push_back(std::isnan(number) ? T{} : static_cast<T>(std::clamp(nearest, low, high)));
  }
  return quanta;
}

template <class T>
void expect_quanta(const Parts& parts, ThreadTeam& team, DType to, ActivationKind activation) {
  constexpr double kQuantum = 0.0137;
  const std::vector<float> real = parts.inference(team, activation);
  const GuardedMemory y(real.size());
  std::memset(y.data(), 0xA5, real.size());
  const Scratch scratch(channel_workspace_bytes(parts.view, team.size()));
  ConcatBatchNorm args = parts.joined();
  args.activation = activation;
  args.to = to;
  args.quantum = kQuantum;
  args.y = y.data();
  args.workspace = scratch.data();
  concat_batch_norm(team, args);
  const T* const first = static_cast<const T*>(y.data());
  std::vector<T> given(first, first + real.size());
  for (std::size_t i = 0; i < real.size(); ++i) {
    given[i] = std::isnan(real[i]) ? T{} : given[i];
  }
  EXPECT_EQ(given, quanta_of<T>(real, static_cast<float>(1 / kQuantum)));
  EXPECT_TRUE(y.intact());
}

TEST(ConcatBatchNorm, RoundsToQuanta) {
  for (const auto& [view, channels] : sizes()) {
    SCOPED_TRACE(test::text(view));
    const Parts parts(view, channels);
    test::for_teams([&](ThreadTeam& team) {
      for (const ActivationKind activation : kActivations) {
        expect_quanta<std::uint8_t>(parts, team, DType::u8, activation);
        expect_quanta<std::int8_t>(parts, team, DType::s8, activation);
      }
    });
  }
}

TEST(ConcatBatchNorm, InHalfPrecisionRoundsTheSameNumbers) {
  const ChannelView view{.batch = 2, .channels = 21, .spatial = 35};
  const auto x = [&](std::int64_t channels, std::uint64_t seed) {
    return random_floats(view.batch * view.spatial * channels, seed);
  };
  test::expect_halves_follow_f32([&](test::Run& run) {
    const std::array<ChannelPart, 2> parts{ChannelPart{.x = run.input(x(16, 1)), .channels = 16},
                                           ChannelPart{.x = run.input(x(5, 2)), .channels = 5}};
    ConcatBatchNorm args{.view = view, .dtype = run.dtype(), .parts = parts};
    args.beta = run.input_floats(random_floats(view.channels, 3));
    args.mean = run.input_floats(random_floats(view.channels, 4));
    args.variance = run.input_floats(std::vector<float>(at(view.channels), 0.75F));
    args.activation = ActivationKind::relu;
    args.to = run.dtype();
    args.y = run.output(view);
    args.workspace = run.workspace(channel_workspace_bytes(view, run.team().size()));
    concat_batch_norm(run.team(), args);
  });
}

TEST(ConcatBatchNorm, DoesNothingForAnEmptyBatch) {
  test::for_teams([](ThreadTeam& team) {
    const std::array<ChannelPart, 1> parts{ChannelPart{.channels = 4}};
    concat_batch_norm(team, {.view = {.channels = 4, .spatial = 9}, .parts = parts});
  });
}

TEST(ConcatBatchNorm, RefusesPartsThatDoNotFit) {
  test::for_teams([](ThreadTeam& team) {
    const ChannelView blocked{
        .batch = 1, .channels = 32, .kind = ChannelView::Kind::blocked, .block = 16};
    const std::array<ChannelPart, 2> parts{ChannelPart{.channels = 20},
                                           ChannelPart{.channels = 12}};
    EXPECT_THROW(concat_batch_norm(team, {.view = blocked, .parts = parts}), InternalError);
    const ChannelView larger{.batch = 1, .channels = 33};
    EXPECT_THROW(concat_batch_norm(team, {.view = larger, .parts = parts}), InternalError);
  });
}

}  // namespace
}  // namespace bench::cpu
