#include "kernels/cpu/optimizer.h"

#include <algorithm>
#include <limits>

#include "models/base/errors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/optimizer.cc"
#include "hwy/foreach_target.h"
#include "kernels/cpu/vector-inl.h"

#ifndef BENCH_KERNELS_CPU_OPTIMIZER_CC_
#define BENCH_KERNELS_CPU_OPTIMIZER_CC_
namespace bench::cpu {

/// Consecutive elements and what is done to them.
struct OptimizerRun {
  std::size_t count = 0;
  float* variables = nullptr;
  const float* gradients = nullptr;
  float* slots = nullptr;
  float learning_rate = 0;
  float gradient_scale = 1;
  float weight_decay = 0;
  float momentum = 0;
  /// Infinite: no clipping.
  float clip = std::numeric_limits<float>::infinity();
};

}  // namespace bench::cpu
#endif  // BENCH_KERNELS_CPU_OPTIMIZER_CC_

HWY_BEFORE_NAMESPACE();
namespace bench::cpu {
namespace HWY_NAMESPACE {
namespace {

void update_run(const OptimizerRun& run) {
  const F32 d;
  const Vector rate = hn::Set(d, run.learning_rate);
  const Vector gradient_scale = hn::Set(d, run.gradient_scale);
  const Vector decay = hn::Set(d, run.weight_decay);
  const Vector momentum = hn::Set(d, run.momentum);
  const Vector highest = hn::Set(d, run.clip);
  const Vector lowest = hn::Set(d, -run.clip);
  float* const variables = run.variables;
  const float* const gradients = run.gradients;
  float* const slots = run.slots;
  const auto gradient = [&](std::size_t i, Vector variable, auto lanes) HWY_ATTR {
    const Vector scaled = hn::Mul(load(gradients + i, lanes), gradient_scale);
    const Vector whole = hn::MulAdd(decay, variable, scaled);
    // Unlike Min and Max, comparisons keep a NaN on every target.
    const Vector below = hn::IfThenElse(hn::Gt(whole, highest), highest, whole);
    return hn::IfThenElse(hn::Lt(below, lowest), lowest, below);
  };
  if (slots == nullptr) {
    sweep(run.count, [&](std::size_t i, auto lanes) HWY_ATTR {
      const Vector variable = load(variables + i, lanes);
      store(hn::NegMulAdd(rate, gradient(i, variable, lanes), variable), variables + i, lanes);
    });
    return;
  }
  sweep(run.count, [&](std::size_t i, auto lanes) HWY_ATTR {
    const Vector variable = load(variables + i, lanes);
    const Vector g = gradient(i, variable, lanes);
    const Vector slot = hn::MulAdd(momentum, load(slots + i, lanes), g);
    store(slot, slots + i, lanes);
    const Vector step = hn::MulAdd(momentum, slot, g);
    store(hn::NegMulAdd(rate, step, variable), variables + i, lanes);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace bench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bench::cpu {

HWY_EXPORT(update_run);

void optimizer_step(ThreadTeam& team, const OptimizerStep& args) {
  const bool has_slots = args.settings.kind == OptimizerKind::momentum;
  check(has_slots == (args.slots != nullptr), "optimizer: momentum has slots, sgd has none");
  std::int64_t count = 0;
  for (const OptimizerSegment& segment : args.segments) {
    count += static_cast<std::int64_t>(segment.count);
  }
  constexpr std::int64_t kGrain = 1024;
  team.for_ranges(count, kGrain, [&](Range range) {
    std::int64_t first = 0;
    for (const OptimizerSegment& segment : args.segments) {
      const std::int64_t last = first + static_cast<std::int64_t>(segment.count);
      const std::int64_t begin = std::max(first, range.begin);
      const std::int64_t end = std::min(last, range.end);
      if (begin < end) {
        const auto at = static_cast<std::int64_t>(segment.offset) + begin - first;
        OptimizerRun run{.count = static_cast<std::size_t>(end - begin),
                         .variables = args.variables + at,
                         .gradients = args.gradients + at,
                         .slots = has_slots ? args.slots + at : nullptr,
                         .learning_rate = static_cast<float>(args.learning_rate),
                         .gradient_scale = static_cast<float>(args.gradient_scale),
                         .momentum = static_cast<float>(args.settings.momentum)};
        if (segment.decayed) {
          run.weight_decay = static_cast<float>(args.settings.weight_decay);
        }
        if (args.settings.clip) {
          run.clip = static_cast<float>(*args.settings.clip);
        }
        HWY_DYNAMIC_DISPATCH(update_run)(run);
      }
      first = last;
    }
  });
}

}  // namespace bench::cpu
#endif  // HWY_ONCE
