#include "bench/quantize/magnitudes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace bench {
namespace {

/// At least 16 bins per quantum of u8 if nothing is cut.
constexpr std::size_t kBins = 8192;

/// The next candidate for a cut is 2.1 % lower.
const double kNextCut = std::exp2(-1.0 / 32);

/// The cost of an error: its power 1.5.
double cost(double error) { return error * std::sqrt(error); }

/// The mean cost of rounding to quanta: errors are uniform up to half a quantum.
double cost_of_rounding(double quantum) { return cost(quantum / 2) / 2.5; }

/// The least and the largest number.
std::pair<float, float> extremes(std::span<const float> numbers) {
  float low = std::numeric_limits<float>::infinity();
  float high = -low;
  for (const float number : numbers) {
    low = std::min(low, number);
    high = std::max(high, number);
  }
  return {low, high};
}

/// The largest finite magnitude of numbers between `low` and `high`.
double largest_finite(std::span<const float> numbers, float low, float high) {
  if (std::isfinite(low) && std::isfinite(high)) {
    return static_cast<double>(std::max(std::abs(low), std::abs(high)));
  }
  float largest = 0;
  for (const float number : numbers) {
    const float magnitude = std::abs(number);
    largest = std::isfinite(magnitude) ? std::max(largest, magnitude) : largest;
  }
  return static_cast<double>(largest);
}

/// The width of bins that count numbers up to `magnitude`.
double width_for(double magnitude) {
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  return std::ldexp(1.0, exponent) / static_cast<double>(kBins);
}

}  // namespace

Magnitudes::Magnitudes() : counts_(kBins) {}

void Magnitudes::clear() {
  if (width_ > 0) {
    std::ranges::fill(counts_, 0);
  }
  width_ = 0;
  largest_ = 0;
  low_ = std::numeric_limits<float>::infinity();
  high_ = -low_;
}

void Magnitudes::add(std::span<const float> numbers) {
  const auto [low, high] = extremes(numbers);
  low_ = std::min(low_, low);
  high_ = std::max(high_, high);
  const double largest = largest_finite(numbers, low, high);
  if (largest == 0) {
    return;
  }
  widen_to(width_for(largest));
  largest_ = std::max(largest_, largest);
  const double per_magnitude = 1 / width_;  // Exact: a power of two.
  for (const float number : numbers) {
    const double magnitude = std::abs(static_cast<double>(number));
    if (magnitude > 0 && std::isfinite(magnitude)) {
      ++counts_[static_cast<std::size_t>(magnitude * per_magnitude)];
    }
  }
}

void Magnitudes::merge(const Magnitudes& other) {
  low_ = std::min(low_, other.low_);
  high_ = std::max(high_, other.high_);
  if (other.width_ == 0) {
    return;
  }
  widen_to(other.width_);
  largest_ = std::max(largest_, other.largest_);
  const double ratio = other.width_ / width_;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    counts_[static_cast<std::size_t>(static_cast<double>(bin) * ratio)] += other.counts_[bin];
  }
}

void Magnitudes::widen_to(double width) {
  width_ = width_ == 0 ? width : width_;
  while (width_ < width) {
    for (std::size_t bin = 0; bin < kBins; ++bin) {
      counts_[bin] = bin < kBins / 2 ? counts_[2 * bin] + counts_[2 * bin + 1] : 0;
    }
    width_ *= 2;
  }
}

double Magnitudes::best_cut(double levels) const {
  if (width_ == 0) {
    return 0;
  }
  const auto middle = [this](std::size_t bin) { return (static_cast<double>(bin) + 0.5) * width_; };
  double least = std::numeric_limits<double>::infinity();
  double best = largest_;
  for (double cut = largest_; cut > width_ * levels; cut *= kNextCut) {
    const double quantum = cut / levels;
    double above = 0;
    double below = 0;
    for (std::size_t bin = 0; bin < kBins; ++bin) {
      const auto count = static_cast<double>(counts_[bin]);
      if (count == 0) {
        continue;
      }
      const double magnitude = middle(bin);
      if (magnitude > cut) {
        above += count * cost(magnitude - cut);
      } else {
        below += count * (magnitude < quantum / 2 ? cost(magnitude) : cost_of_rounding(quantum));
      }
    }
    if (above > least) {
      break;  // Lower cuts lose even more above the cut.
    }
    if (above + below < least) {
      least = above + below;
      best = cut;
    }
  }
  return best;
}

}  // namespace bench
