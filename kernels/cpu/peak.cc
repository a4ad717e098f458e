#include "kernels/cpu/peak.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "kernels/cpu/dot_products.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/peak.cc"
#include "hwy/foreach_target.h"
#include "kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bench::cpu {
namespace HWY_NAMESPACE {
namespace {

/// Chains of multiply-adds that do not depend on each other. They are more than the latency times
/// the units of any x86 processor, and few enough for 16 registers.
constexpr int kChains = 12;

/// The chains start differently: equal chains would be computed once. Returns the number of
/// operations. `result` keeps the compiler from removing them.
double multiply_add_f32(std::int64_t rounds, float* result) {
  const Vector half = hn::Set(F32(), 0.5F);
  const Vector one = hn::Set(F32(), 1.0F);
  Vector a = hn::Set(F32(), 1.0F);
  Vector b = hn::Set(F32(), 2.0F);
  Vector c = hn::Set(F32(), 3.0F);
  Vector d = hn::Set(F32(), 4.0F);
  Vector e = hn::Set(F32(), 5.0F);
  Vector f = hn::Set(F32(), 6.0F);
  Vector g = hn::Set(F32(), 7.0F);
  Vector h = hn::Set(F32(), 8.0F);
  Vector i = hn::Set(F32(), 9.0F);
  Vector j = hn::Set(F32(), 10.0F);
  Vector k = hn::Set(F32(), 11.0F);
  Vector l = hn::Set(F32(), 12.0F);
  for (std::int64_t round = 0; round < rounds; ++round) {
    a = hn::MulAdd(a, half, one);
    b = hn::MulAdd(b, half, one);
    c = hn::MulAdd(c, half, one);
    d = hn::MulAdd(d, half, one);
    e = hn::MulAdd(e, half, one);
    f = hn::MulAdd(f, half, one);
    g = hn::MulAdd(g, half, one);
    h = hn::MulAdd(h, half, one);
    i = hn::MulAdd(i, half, one);
    j = hn::MulAdd(j, half, one);
    k = hn::MulAdd(k, half, one);
    l = hn::MulAdd(l, half, one);
  }
  const Vector first = hn::Add(hn::Add(hn::Add(a, b), hn::Add(c, d)), hn::Add(e, f));
  const Vector second = hn::Add(hn::Add(hn::Add(g, h), hn::Add(i, j)), hn::Add(k, l));
  *result = hn::GetLane(hn::Add(first, second));
  return 2.0 * kChains * static_cast<double>(hn::Lanes(F32())) * static_cast<double>(rounds);
}

/// x = x + y: two reads per write.
void add_to(float* x, const float* y, std::size_t count) {
  sweep(count, [&](std::size_t i, auto lanes) HWY_ATTR {
    store(hn::Add(load(x + i, lanes), load(y + i, lanes)), x + i, lanes);
  });
}

/// x = x + 1: one read per write.
void increment(float* x, std::size_t count) {
  const Vector one = hn::Set(F32(), 1.0F);
  sweep(count, [&](std::size_t i, auto lanes)
                   HWY_ATTR { store(hn::Add(load(x + i, lanes), one), x + i, lanes); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace bench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bench::cpu {
HWY_EXPORT(multiply_add_f32);
HWY_EXPORT(add_to);
HWY_EXPORT(increment);

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRepeats = 16;

/// The seconds of a round on all threads.
template <class Work>
double seconds_on_all(ThreadTeam& team, int repeats, const Work& work) {
  return seconds_per_round(repeats, [&](std::int64_t rounds) {
    const auto begin = Clock::now();
    team.parallel([&](int thread) { work(thread, rounds); });
    return std::chrono::duration<double>(Clock::now() - begin).count();
  });
}

/// The threads' results in separate cache lines.
struct alignas(64) PaddedResult {
  float value = 0;
};

double run(MultiplyAdd instruction, std::int64_t rounds, float* result) {
  return instruction == MultiplyAdd::f32 ? HWY_DYNAMIC_DISPATCH(multiply_add_f32)(rounds, result)
                                         : multiply_add_dot(instruction, rounds, result);
}

double flops_of(ThreadTeam& team, MultiplyAdd instruction, int repeats) {
  if (uses_tiles(instruction)) {
    request_tiles();
  }
  std::vector<PaddedResult> results(static_cast<std::size_t>(team.size()));
  const double flops = run(instruction, 1, &results[0].value);
  const double seconds = seconds_on_all(team, repeats, [&](int thread, std::int64_t rounds) {
    run(instruction, rounds, &results[static_cast<std::size_t>(thread)].value);
  });
  return flops * team.size() / seconds;
}

}  // namespace

double seconds_per_round(int repeats, const std::function<double(std::int64_t)>& seconds_of) {
  // Short, so that one of the repeats runs without an interruption.
  constexpr double kRepeatSeconds = 4e-3;
  constexpr std::int64_t kMostRounds = std::int64_t{1} << 40;
  for (std::int64_t rounds = 1;; rounds *= 2) {
    if (seconds_of(rounds) < kRepeatSeconds && rounds < kMostRounds) {
      continue;
    }
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < repeats; ++i) {
      best = std::min(best, seconds_of(rounds));
    }
    // If the repeats are much shorter, an interruption made the first run long.
    if (best >= kRepeatSeconds / 2 || rounds >= kMostRounds) {
      return best / static_cast<double>(rounds);
    }
  }
}

double peak_flops(ThreadTeam& team, MultiplyAdd instruction) {
  return flops_of(team, instruction, kRepeats);
}

double sample_flops(ThreadTeam& team, MultiplyAdd instruction) {
  return flops_of(team, instruction, 1);
}

double peak_bandwidth(ThreadTeam& team, std::span<std::byte> memory) {
  // Arrays at equal places in the sets of a cache would replace each other.
  constexpr std::size_t kApart = 4096 + 5 * 64;
  constexpr std::size_t kLine = 64;
  const std::size_t part = memory.size() / static_cast<std::size_t>(team.size()) / kLine * kLine;
  const std::size_t apart = std::min(kApart, part / 8 / kLine * kLine);
  const std::size_t half = (part - apart) / 2 / kLine * kLine;
  check(half > 0, "peak bandwidth: too little memory for the threads");
  const std::size_t count = half / sizeof(float);
  const auto array = [&](int thread, std::size_t offset) {
    return reinterpret_cast<float*>(memory.data() + static_cast<std::size_t>(thread) * part +
                                    offset);
  };
  const double adding = seconds_on_all(team, kRepeats, [&](int thread, std::int64_t rounds) {
    for (std::int64_t round = 0; round < rounds; ++round) {
      HWY_DYNAMIC_DISPATCH(add_to)(array(thread, 0), array(thread, half + apart), count);
    }
  });
  const double incrementing = seconds_on_all(team, kRepeats, [&](int thread, std::int64_t rounds) {
    for (std::int64_t round = 0; round < rounds; ++round) {
      HWY_DYNAMIC_DISPATCH(increment)(array(thread, 0), 2 * count);
    }
  });
  const double bytes = static_cast<double>(team.size()) * static_cast<double>(half);
  return std::max(3 * bytes / adding, 4 * bytes / incrementing);
}

}  // namespace bench::cpu
#endif  // HWY_ONCE
