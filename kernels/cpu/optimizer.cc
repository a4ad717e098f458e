#include "kernels/cpu/optimizer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/cpu/loss.h"
#include "models/base/errors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/optimizer.cc"
#include "hwy/foreach_target.h"
#include "kernels/cpu/vector-inl.h"

#ifndef BENCH_KERNELS_CPU_OPTIMIZER_CC_
#define BENCH_KERNELS_CPU_OPTIMIZER_CC_
namespace bench::cpu {

/// Consecutive elements and the update to apply.
struct OptimizerRun {
  std::size_t count = 0;
  float* variables = nullptr;
  const float* gradients = nullptr;
  /// The variables to which the decay applies; may be the updated ones.
  const float* decaying = nullptr;
  /// Complete slots; the elements begin at `offset`.
  std::span<void* const> slots;
  std::size_t offset = 0;
  float gradient_scale = 1;
  float weight_decay = 0;
  /// Infinite: no clipping.
  float clip = std::numeric_limits<float>::infinity();

  [[nodiscard]] float* slot(std::size_t which) const {
    return static_cast<float*>(slots[which]) + offset;
  }
};

}  // namespace bench::cpu
#endif  // BENCH_KERNELS_CPU_OPTIMIZER_CC_

HWY_BEFORE_NAMESPACE();
namespace bench::cpu {
namespace HWY_NAMESPACE {
namespace {

Vector all(double value) { return hn::Set(F32(), static_cast<float>(value)); }

/// Replaces each variable w by update(g, w, i, lanes). Here i is the index in the run, and g is as
/// in OptimizerSettings.
template <class Update>
HWY_INLINE void update_each(const OptimizerRun& run, const Update& update) {
  const F32 d;
  const Vector gradient_scale = hn::Set(d, run.gradient_scale);
  const Vector decay = hn::Set(d, run.weight_decay);
  const Vector highest = hn::Set(d, run.clip);
  const Vector lowest = hn::Set(d, -run.clip);
  float* const variables = run.variables;
  const float* const gradients = run.gradients;
  const float* const decaying = run.decaying;
  sweep(run.count, [&](std::size_t i, auto lanes) HWY_ATTR {
    const Vector variable = load(variables + i, lanes);
    const Vector scaled = hn::Mul(load(gradients + i, lanes), gradient_scale);
    const Vector whole = hn::MulAdd(decay, load(decaying + i, lanes), scaled);
    // Unlike Min and Max, comparisons keep a NaN on every target.
    const Vector below = hn::IfThenElse(hn::Gt(whole, highest), highest, whole);
    const Vector g = hn::IfThenElse(hn::Lt(below, lowest), lowest, below);
    store(update(g, variable, i, lanes), variables + i, lanes);
  });
}

void run_sgd(const OptimizerRun& run, double learning_rate) {
  const Vector rate = all(learning_rate);
  update_each(run, [&](Vector g, Vector variable, std::size_t, auto)
                       HWY_ATTR { return hn::NegMulAdd(rate, g, variable); });
}

void run_momentum(const OptimizerRun& run, const MomentumRule& rule, double learning_rate) {
  const Vector rate = all(learning_rate);
  const Vector momentum = all(rule.momentum);
  float* const slot = run.slot(0);
  update_each(run, [&](Vector g, Vector variable, std::size_t i, auto lanes) HWY_ATTR {
    const Vector a = hn::MulAdd(momentum, load(slot + i, lanes), g);
    store(a, slot + i, lanes);
    return hn::NegMulAdd(rate, hn::MulAdd(momentum, a, g), variable);
  });
}

void run_rmsprop(const OptimizerRun& run, const RmspropRule& rule, double learning_rate) {
  const Vector rate = all(learning_rate);
  const Vector decay = all(rule.decay);
  const Vector rest = all(1 - rule.decay);
  const Vector momentum = all(rule.momentum);
  const Vector epsilon = all(rule.epsilon);
  float* const squares = run.slot(0);
  float* const steps = run.slot(1);
  update_each(run, [&](Vector g, Vector variable, std::size_t i, auto lanes) HWY_ATTR {
    const Vector s = hn::MulAdd(decay, load(squares + i, lanes), hn::Mul(rest, hn::Mul(g, g)));
    store(s, squares + i, lanes);
    const Vector step = hn::Div(hn::Mul(rate, g), hn::Sqrt(hn::Add(s, epsilon)));
    const Vector a = hn::MulAdd(momentum, load(steps + i, lanes), step);
    store(a, steps + i, lanes);
    return hn::Sub(variable, a);
  });
}

/// `corrected_rate` is the factor before m in the formula.
void run_adam(const OptimizerRun& run, const AdamRule& rule, double corrected_rate) {
  const Vector rate = all(corrected_rate);
  const Vector beta1 = all(rule.beta1);
  const Vector rest1 = all(1 - rule.beta1);
  const Vector beta2 = all(rule.beta2);
  const Vector rest2 = all(1 - rule.beta2);
  const Vector epsilon = all(rule.epsilon);
  float* const means = run.slot(0);
  float* const squares = run.slot(1);
  update_each(run, [&](Vector g, Vector variable, std::size_t i, auto lanes) HWY_ATTR {
    const Vector m = hn::MulAdd(beta1, load(means + i, lanes), hn::Mul(rest1, g));
    const Vector v = hn::MulAdd(beta2, load(squares + i, lanes), hn::Mul(rest2, hn::Mul(g, g)));
    store(m, means + i, lanes);
    store(v, squares + i, lanes);
    return hn::Sub(variable, hn::Div(hn::Mul(rate, m), hn::Add(hn::Sqrt(v), epsilon)));
  });
}

void run_lars(const OptimizerRun& run, const LarsRule& rule, double learning_rate) {
  const Vector rate = all(learning_rate);
  const Vector momentum = all(rule.momentum);
  float* const steps = run.slot(0);
  update_each(run, [&](Vector g, Vector variable, std::size_t i, auto lanes) HWY_ATTR {
    const Vector a = hn::MulAdd(momentum, load(steps + i, lanes), hn::Mul(rate, g));
    store(a, steps + i, lanes);
    return hn::Sub(variable, a);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace bench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bench::cpu {

HWY_EXPORT(run_sgd);
HWY_EXPORT(run_momentum);
HWY_EXPORT(run_rmsprop);
HWY_EXPORT(run_adam);
HWY_EXPORT(run_lars);

namespace {

void apply(const SgdRule&, const OptimizerRun& run, const UpdateScalars& scalars) {
  HWY_DYNAMIC_DISPATCH(run_sgd)(run, scalars.learning_rate);
}

void apply(const MomentumRule& rule, const OptimizerRun& run, const UpdateScalars& scalars) {
  HWY_DYNAMIC_DISPATCH(run_momentum)(run, rule, scalars.learning_rate);
}

void apply(const RmspropRule& rule, const OptimizerRun& run, const UpdateScalars& scalars) {
  HWY_DYNAMIC_DISPATCH(run_rmsprop)(run, rule, scalars.learning_rate);
}

void apply(const AdamRule& rule, const OptimizerRun& run, const UpdateScalars& scalars) {
  const auto t = static_cast<double>(scalars.update);
  const double correction = std::sqrt(1 - std::pow(rule.beta2, t)) / (1 - std::pow(rule.beta1, t));
  HWY_DYNAMIC_DISPATCH(run_adam)(run, rule, scalars.learning_rate * correction);
}

void apply(const LarsRule& rule, const OptimizerRun& run, const UpdateScalars& scalars) {
  HWY_DYNAMIC_DISPATCH(run_lars)(run, rule, scalars.learning_rate);
}

/// The boundary of a thread's share in a segment of `count` elements: tiles stay whole.
std::int64_t cut(std::int64_t place, std::int64_t count) {
  constexpr std::int64_t kTile = TileOrder::kMaxElements;
  return place >= count ? count : std::max<std::int64_t>(place, 0) / kTile * kTile;
}

bool is_sparse(const OptimizerSegment& segment) { return segment.sparse_row > 0; }

/// The fewest elements for a thread.
constexpr std::int64_t kGrain = 1024;

enum class Segments : std::uint8_t { all, dense };
/// Calls part(number of a segment, begin, count) on the threads for ranges that cover the segments.
template <class Part>
void for_parts(ThreadTeam& team, std::span<const OptimizerSegment> segments, Segments which,
               const Part& part) {
  const auto elements_of = [which](const OptimizerSegment& segment) {
    return which == Segments::all || !is_sparse(segment) ? static_cast<std::int64_t>(segment.count)
                                                         : 0;
  };
  std::int64_t count = 0;
  for (const OptimizerSegment& segment : segments) {
    count += elements_of(segment);
  }
  team.for_ranges(count, kGrain, [&](Range range) {
    std::int64_t first = 0;
    for (const OptimizerSegment& segment : segments) {
      const std::int64_t elements = elements_of(segment);
      const std::int64_t begin = cut(range.begin - first, elements);
      const std::int64_t end = cut(range.end - first, elements);
      if (begin < end) {
        part(static_cast<std::size_t>(&segment - segments.data()), static_cast<std::size_t>(begin),
             static_cast<std::size_t>(end - begin));
      }
      first += elements;
    }
  });
}

/// Calls update(begin, count, sums) for the sums of the gradients of `count` elements of a segment.
template <class Update>
void for_sums(std::span<const SparseGradient> gradients, std::size_t offset, std::size_t begin,
              std::size_t count, const Update& update) {
  const auto at = [&](std::size_t tower, std::size_t place) {
    return static_cast<const float*>(gradients[tower].gradients) + offset + place;
  };
  if (gradients.size() == 1) {
    update(begin, count, at(0, begin));
    return;
  }
  constexpr std::size_t kMost = 256;
  std::array<float, kMost> sums{};
  for (std::size_t i = begin; i < begin + count; i += kMost) {
    const std::size_t some = std::min(kMost, begin + count - i);
    std::copy_n(at(0, i), some, sums.begin());
    for (std::size_t tower = 1; tower < gradients.size(); ++tower) {
      const float* const more = at(tower, i);
      for (std::size_t j = 0; j < some; ++j) {
        sums[j] += more[j];
      }
    }
    update(i, some, sums.data());
  }
}

/// The distinct rows of all towers; `joined` may hold them.
std::span<const std::int32_t> rows_of(std::span<const SparseGradient> gradients,
                                      std::vector<std::int32_t>& joined) {
  if (gradients.size() == 1) {
    return gradients[0].rows;
  }
  joined.clear();
  for (const SparseGradient& gradient : gradients) {
    joined.insert(joined.end(), gradient.rows.begin(), gradient.rows.end());
  }
  std::ranges::sort(joined);
  joined.erase(std::unique(joined.begin(), joined.end()), joined.end());
  return joined;
}

/// Calls update(number of a segment, begin, count, sums) on the threads, for the written rows of
/// all sparse segments.
template <class Update>
void for_rows(ThreadTeam& team, std::span<const OptimizerSegment> segments,
              std::span<const SparseGradient> gradients, std::vector<std::int32_t>& joined,
              const Update& update) {
  const auto count = static_cast<std::size_t>(std::ranges::count_if(segments, is_sparse));
  const std::size_t towers = count == 0 ? 0 : gradients.size() / count;
  for (std::size_t number = 0; number < segments.size(); ++number) {
    const OptimizerSegment& segment = segments[number];
    if (!is_sparse(segment)) {
      continue;
    }
    const std::span<const SparseGradient> added = gradients.first(towers);
    gradients = gradients.subspan(towers);
    const std::span<const std::int32_t> rows = rows_of(added, joined);
    const std::int64_t grain =
        std::max<std::int64_t>(kGrain / static_cast<std::int64_t>(segment.sparse_row), 1);
    team.for_ranges(std::ssize(rows), grain, [&](Range range) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        const auto row = static_cast<std::size_t>(rows[static_cast<std::size_t>(i)]);
        for_sums(added, segment.offset, row * segment.sparse_row, segment.sparse_row,
                 [&](std::size_t begin, std::size_t some, const float* sums) {
                   update(number, begin, some, sums);
                 });
      }
    });
  }
}

}  // namespace

OptimizerKernel::OptimizerKernel(const OptimizerSettings& settings,
                                 std::vector<OptimizerSegment> segments)
    : settings_(settings), segments_(std::move(segments)) {
  for (const OptimizerSegment& segment : segments_) {
    std::vector<TileCopier>& copiers = copiers_.emplace_back();
    for (const OptimizerSegment::Copy& copy : segment.copies) {
      copiers.emplace_back(copy.order, copy.dtype);
    }
  }
  if (!std::holds_alternative<LarsRule>(settings_.rule)) {
    return;
  }
  rate_factors_.resize(segments_.size(), 1);
  constexpr std::size_t kPart = std::size_t{1} << 16U;
  for (std::size_t number = 0; number < segments_.size(); ++number) {
    const OptimizerSegment& segment = segments_[number];
    for (std::size_t begin = 0; segment.decayed && begin < segment.count; begin += kPart) {
      norm_parts_.push_back({.segment = number,
                             .offset = segment.offset + begin,
                             .count = std::min(kPart, segment.count - begin)});
    }
  }
}

void OptimizerKernel::find_trust_ratios(ThreadTeam& team, const LarsRule& rule,
                                        const float* variables, const float* gradients,
                                        double gradient_scale) {
  team.for_ranges(static_cast<std::int64_t>(norm_parts_.size()), 1, [&](Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      NormPart& part = norm_parts_[static_cast<std::size_t>(i)];
      part.variables = sum_of_squares({variables + part.offset, part.count});
      part.gradients = sum_of_squares({gradients + part.offset, part.count});
    }
  });
  for (std::size_t i = 0; i < norm_parts_.size();) {
    const std::size_t segment = norm_parts_[i].segment;
    double of_variables = 0;
    double of_gradients = 0;
    for (; i < norm_parts_.size() && norm_parts_[i].segment == segment; ++i) {
      of_variables += norm_parts_[i].variables;
      of_gradients += norm_parts_[i].gradients;
    }
    rate_factors_[segment] = trust_ratio(rule, settings_.weight_decay, std::sqrt(of_variables),
                                         std::sqrt(of_gradients) * gradient_scale);
  }
}

void OptimizerKernel::check_sparse(const OptimizerMemory& memory) const {
  const auto count = static_cast<std::size_t>(std::ranges::count_if(segments_, is_sparse));
  check(count == 0
            ? memory.sparse.empty()
            : !memory.sparse.empty() && memory.sparse.size() % count == 0 &&
                  std::holds_alternative<SgdRule>(settings_.rule) && settings_.weight_decay == 0,
        "optimizer: the gradients cannot be sparse");
}

void OptimizerKernel::update(ThreadTeam& team, const OptimizerMemory& memory,
                             const UpdateScalars& scalars) {
  check_slots(settings_.rule, memory.slots.size());
  check(memory.copies != nullptr ||
            std::all_of(segments_.begin(), segments_.end(),
                        [](const OptimizerSegment& segment) { return segment.copies.empty(); }),
        "optimizer: the memory for the copies is missing");
  check_sparse(memory);
  const void* const decaying = memory.decaying == nullptr ? memory.variables : memory.decaying;
  if (const auto* const lars = std::get_if<LarsRule>(&settings_.rule)) {
    find_trust_ratios(team, *lars, static_cast<const float*>(decaying),
                      static_cast<const float*>(memory.gradients), scalars.gradient_scale);
  }
  const auto update = [&](std::size_t number, std::size_t begin, std::size_t count,
                          const float* gradients) {
    const OptimizerSegment& segment = segments_[number];
    const std::size_t place = segment.offset + begin;
    OptimizerRun run{.count = count,
                     .variables = static_cast<float*>(memory.variables) + place,
                     .gradients = gradients,
                     .decaying = static_cast<const float*>(decaying) + place,
                     .slots = memory.slots,
                     .offset = place,
                     .gradient_scale = static_cast<float>(scalars.gradient_scale)};
    if (segment.decayed) {
      run.weight_decay = static_cast<float>(settings_.weight_decay);
    }
    if (settings_.clip) {
      run.clip = static_cast<float>(*settings_.clip);
    }
    UpdateScalars of_segment = scalars;
    if (!rate_factors_.empty()) {
      of_segment.learning_rate *= rate_factors_[number];
    }
    std::visit([&](const auto& rule) { apply(rule, run, of_segment); }, settings_.rule);
    for (std::size_t c = 0; c < segment.copies.size(); ++c) {
      copiers_[number][c].copy(
          run.variables, begin, count,
          static_cast<std::uint16_t*>(memory.copies) + segment.copies[c].offset);
    }
  };
  for_rows(team, segments_, memory.sparse, rows_, update);
  for_parts(team, segments_, Segments::dense,
            [&](std::size_t number, std::size_t begin, std::size_t count) {
              const OptimizerSegment& segment = segments_[number];
              // Few enough elements that copies find them in the nearest caches.
              constexpr std::size_t kFew = 4 * TileOrder::kMaxElements;
              const std::size_t most = segment.copies.empty() ? count : kFew;
              for (std::size_t i = begin; i < begin + count; i += most) {
                update(number, i, std::min(most, begin + count - i),
                       static_cast<const float*>(memory.gradients) + segment.offset + i);
              }
            });
}

void OptimizerKernel::reset(ThreadTeam& team, std::span<void* const> slots) const {
  check_slots(settings_.rule, slots.size());
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    const auto first = static_cast<float>(row_of(settings_.rule).first_values[slot]);
    for_parts(team, segments_, Segments::all,
              [&](std::size_t number, std::size_t begin, std::size_t count) {
                std::fill_n(static_cast<float*>(slots[slot]) + segments_[number].offset + begin,
                            count, first);
              });
  }
}

}  // namespace bench::cpu
#endif  // HWY_ONCE
