#include "kernels/cpu/loss.h"

#include <algorithm>
#include <cmath>

#include "models/base/errors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/loss.cc"
#include "hwy/foreach_target.h"
#include "kernels/cpu/vector-inl.h"
// Behind vector-inl.h, which includes highway first.
#include "hwy/contrib/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bench::cpu {
namespace HWY_NAMESPACE {
namespace {

/// Lanes that a partial vector does not cover, replaced by `value`.
HWY_INLINE Vector with_rest(Vector loaded, float, Whole) { return loaded; }
HWY_INLINE Vector with_rest(Vector loaded, float value, Part part) {
  const F32 d;
  return hn::IfThenElse(hn::FirstN(d, part.lanes), loaded, hn::Set(d, value));
}

/// Writes softmax(logits) and returns the cross-entropy with the smoothed target.
double softmax_row(const float* logits, std::size_t classes, std::size_t label, double smoothing,
                   float* probabilities) {
  const F32 d;
  const float label_logit = logits[label];
  Vector largest = hn::Set(d, label_logit);
  sweep(classes, [&](std::size_t i, auto lanes) HWY_ATTR {
    largest = hn::Max(largest, with_rest(load(logits + i, lanes), label_logit, lanes));
  });
  const Vector top = hn::MaxOfLanes(d, largest);
  Vector sums = hn::Zero(d);
  Vector exponents = hn::Zero(d);
  sweep(classes, [&](std::size_t i, auto lanes) HWY_ATTR {
    const Vector exponent = hn::Sub(load(logits + i, lanes), top);
    // Exp takes a NaN for a very small number.
    const Vector raised = hn::IfThenElse(hn::IsNaN(exponent), exponent, hn::Exp(d, exponent));
    store(raised, probabilities + i, lanes);
    sums = hn::Add(sums, with_rest(raised, 0, lanes));
    exponents = hn::Add(exponents, with_rest(exponent, 0, lanes));
  });
  const float sum = hn::GetLane(hn::SumOfLanes(d, sums));
  const Vector factor = hn::Set(d, 1.0F / sum);
  sweep(classes, [&](std::size_t i, auto lanes) HWY_ATTR {
    store(hn::Mul(load(probabilities + i, lanes), factor), probabilities + i, lanes);
  });
  // Against the largest logit.
  double aimed_at = static_cast<double>(label_logit) - static_cast<double>(hn::GetLane(top));
  // Without smoothing, a logit of minus infinity only affects rows that have its label.
  if (smoothing != 0) {
    const auto total = static_cast<double>(hn::GetLane(hn::SumOfLanes(d, exponents)));
    aimed_at = (1 - smoothing) * aimed_at + smoothing * total / static_cast<double>(classes);
  }
  return std::log(static_cast<double>(sum)) - aimed_at;
}

/// How many logits are larger than `threshold`.
std::size_t count_larger(const float* logits, std::size_t classes, float threshold) {
  const F32 d;
  const Vector bound = hn::Set(d, threshold);
  std::size_t larger = 0;
  sweep(classes, [&](std::size_t i, auto lanes) HWY_ATTR {
    const Vector values = with_rest(load(logits + i, lanes), threshold, lanes);
    larger += hn::CountTrue(d, hn::Gt(values, bound));
  });
  return larger;
}

/// y = (x - offset) * factor.
void scaled_row(const float* x, std::size_t count, float offset, float factor, float* y) {
  const Vector offsets = hn::Set(F32(), offset);
  const Vector factors = hn::Set(F32(), factor);
  sweep(count, [&](std::size_t i, auto lanes) HWY_ATTR {
    store(hn::Mul(hn::Sub(load(x + i, lanes), offsets), factors), y + i, lanes);
  });
}

double squares(const float* x, std::size_t count) {
  const F32 d;
  const std::size_t chunk = 64 * hn::Lanes(d);
  double total = 0;
  for (std::size_t begin = 0; begin < count; begin += chunk) {
    const std::size_t take = count - begin < chunk ? count - begin : chunk;
    Vector first = hn::Zero(d);
    Vector second = hn::Zero(d);
    std::size_t i = 0;
    for (; i + 2 * hn::Lanes(d) <= take; i += 2 * hn::Lanes(d)) {
      const Vector a = load(x + begin + i, Whole{});
      const Vector b = load(x + begin + i + hn::Lanes(d), Whole{});
      first = hn::MulAdd(a, a, first);
      second = hn::MulAdd(b, b, second);
    }
    sweep(take - i, [&](std::size_t j, auto lanes) HWY_ATTR {
      const Vector a = load(x + begin + i + j, lanes);
      first = hn::MulAdd(a, a, first);
    });
    total += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(first, second))));
  }
  return total;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace bench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bench::cpu {
namespace {

void check_labels(const std::int32_t* labels, std::int64_t rows, std::int64_t classes) {
  for (std::int64_t row = 0; row < rows; ++row) {
    if (labels[row] < 0 || labels[row] >= classes) {
      throw DataError(
          fmt::format("label {} of row {} is outside 0..{}", labels[row], row, classes - 1));
    }
  }
}

}  // namespace

HWY_EXPORT(softmax_row);
HWY_EXPORT(count_larger);
HWY_EXPORT(scaled_row);
HWY_EXPORT(squares);

double softmax_cross_entropy(ThreadTeam& team, const SoftmaxCrossEntropy& args) {
  check_labels(args.labels, args.rows, args.classes);
  const double total = team.sum([&](int thread) {
    const Range rows = ThreadTeam::split(args.rows, team.size(), thread);
    double loss = 0;
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      loss += HWY_DYNAMIC_DISPATCH(softmax_row)(
          args.logits + row * args.classes, static_cast<std::size_t>(args.classes),
          static_cast<std::size_t>(args.labels[row]), args.attributes.label_smoothing,
          args.probabilities + row * args.classes);
    }
    return loss;
  });
  return args.attributes.weight * total / static_cast<double>(args.rows);
}

double softmax_cross_entropy_of_row(const float* logits, std::int64_t classes, std::int32_t label,
                                    float* probabilities) {
  constexpr double kNoSmoothing = 0;
  return HWY_DYNAMIC_DISPATCH(softmax_row)(logits, static_cast<std::size_t>(classes),
                                           static_cast<std::size_t>(label), kNoSmoothing,
                                           probabilities);
}

void softmax_cross_entropy_backward(ThreadTeam& team, const SoftmaxCrossEntropyBackward& args) {
  check_labels(args.labels, args.rows, args.classes);
  const auto factor =
      static_cast<float>(args.attributes.weight * args.dloss / static_cast<double>(args.rows));
  const double smoothing = args.attributes.label_smoothing;
  const double target = smoothing / static_cast<double>(args.classes);
  const auto target_of_label = static_cast<float>(1 - smoothing + target);
  team.for_ranges(args.rows, 1, [&](Range rows) {
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      const float* const probabilities = args.probabilities + row * args.classes;
      float* const dlogits = args.dlogits + row * args.classes;
      // Before the row is scaled, which may be in place.
      const float of_label = (probabilities[args.labels[row]] - target_of_label) * factor;
      HWY_DYNAMIC_DISPATCH(scaled_row)
      (probabilities, static_cast<std::size_t>(args.classes), static_cast<float>(target), factor,
       dlogits);
      dlogits[args.labels[row]] = of_label;
    }
  });
}

double top_k_accuracy(ThreadTeam& team, const TopKAccuracy& args) {
  check_labels(args.labels, args.rows, args.classes);
  const double hits = team.sum([&](int thread) {
    const Range rows = ThreadTeam::split(args.rows, team.size(), thread);
    std::int64_t count = 0;
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      const float* const logits = args.logits + row * args.classes;
      const float own = logits[args.labels[row]];
      const auto larger = static_cast<std::int64_t>(
          HWY_DYNAMIC_DISPATCH(count_larger)(logits, static_cast<std::size_t>(args.classes), own));
      count += std::isfinite(own) && larger < args.k ? 1 : 0;
    }
    return static_cast<double>(count);
  });
  return hits / static_cast<double>(args.rows);
}

double sum_of_squares(std::span<const float> tensor) {
  return HWY_DYNAMIC_DISPATCH(squares)(tensor.data(), tensor.size());
}

double sum_of_squares(ThreadTeam& team, std::span<const std::span<const float>> tensors) {
  std::int64_t count = 0;
  for (const auto tensor : tensors) {
    count += static_cast<std::int64_t>(tensor.size());
  }
  return team.sum([&](int thread) {
    const Range mine = ThreadTeam::split(count, team.size(), thread);
    double total = 0;
    std::int64_t first = 0;
    for (const auto tensor : tensors) {
      const std::int64_t last = first + static_cast<std::int64_t>(tensor.size());
      const std::int64_t begin = std::max(first, mine.begin);
      const std::int64_t end = std::min(last, mine.end);
      if (begin < end) {
        total += sum_of_squares(tensor.subspan(static_cast<std::size_t>(begin - first),
                                               static_cast<std::size_t>(end - begin)));
      }
      first = last;
    }
    return total;
  });
}

}  // namespace bench::cpu
#endif  // HWY_ONCE
