#include "results/stats/verdict.h"

#include <algorithm>
#include <cmath>

#include "models/base/errors.h"
#include "results/stats/distributions.h"

namespace bench::results::stats {

std::string_view name_of(ChangeVerdict verdict) {
  switch (verdict) {
    case ChangeVerdict::kRegressed:
      return "regressed";
    case ChangeVerdict::kImproved:
      return "improved";
    case ChangeVerdict::kChanged:
      return "changed";
    case ChangeVerdict::kEquivalent:
      return "equivalent";
    case ChangeVerdict::kInconclusive:
      return "inconclusive";
    case ChangeVerdict::kDisturbed:
      return "disturbed";
  }
  throw InternalError("unnamed ChangeVerdict");
}

ChangeVerdict judge(const Shift& log_ratio, const VerdictRule& rule) {
  if (!log_ratio.interval) return ChangeVerdict::kInconclusive;
  const double sign = rule.better == Better::kLower ? -1 : 1;
  const double effect = relative_change(sign * log_ratio.estimate);
  double low = relative_change(sign * log_ratio.interval->low);
  double high = relative_change(sign * log_ratio.interval->high);
  if (low > high) std::swap(low, high);
  const bool large = std::abs(effect) >= rule.margin;
  const bool none = rule.better == Better::kNone;
  if (high < -rule.margin || (high < 0 && large)) {
    return none ? ChangeVerdict::kChanged : ChangeVerdict::kRegressed;
  }
  if (low > rule.margin || (low > 0 && large)) {
    return none ? ChangeVerdict::kChanged : ChangeVerdict::kImproved;
  }
  if (low > -rule.margin && high < rule.margin) return ChangeVerdict::kEquivalent;
  if ((high < 0 || low > 0) && !large) return ChangeVerdict::kEquivalent;
  return ChangeVerdict::kInconclusive;
}

std::int64_t least_runs(double alpha, bool paired) {
  // The smallest possible p is 2 / 2^n for pairs, 2 / C(2n, n) otherwise.
  std::int64_t least = 1;
  double smallest = 1;
  while (smallest > alpha) {
    ++least;
    const auto count = static_cast<double>(least);
    smallest = paired ? 2 * std::pow(0.5, count)
                      : 2 * std::exp(2 * std::lgamma(count + 1) - std::lgamma(2 * count + 1));
  }
  return least;
}

std::int64_t runs_needed(const PowerQuestion& question) {
  check(question.margin > 0, "the margin must be positive");
  const double z = normal_quantile(1 - question.alpha / 2) + normal_quantile(0.8);
  const double samples = question.paired ? 1 : 2;
  const double n = samples * z * z * question.spread * question.spread /
                   (0.955 * question.margin * question.margin);
  return std::max(least_runs(question.alpha, question.paired),
                  static_cast<std::int64_t>(std::ceil(n)));
}

double relative_change(double log_ratio) { return std::expm1(log_ratio); }

Interval relative_change(const Interval& log_ratio) {
  return {.low = std::expm1(log_ratio.low), .high = std::expm1(log_ratio.high)};
}

}  // namespace bench::results::stats
