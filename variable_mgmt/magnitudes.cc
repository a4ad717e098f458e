#include "variable_mgmt/magnitudes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bench {
namespace {

/// At least 16 for each quantum of u8, when nothing is cut.
constexpr std::size_t kBins = 8192;

/// Numbers of a part of the bins: how many, and their first two moments.
struct Moments {
  double count = 0;
  double sum = 0;
  double squares = 0;
};

}  // namespace

void Magnitudes::add(std::span<const float> numbers) {
  double largest = 0;
  for (const float number : numbers) {
    const double magnitude = std::abs(static_cast<double>(number));
    largest = std::isfinite(magnitude) ? std::max(largest, magnitude) : largest;
  }
  if (largest == 0) {
    return;
  }
  widen_for(largest);
  largest_ = std::max(largest_, largest);
  for (const float number : numbers) {
    const double magnitude = std::abs(static_cast<double>(number));
    if (magnitude > 0 && std::isfinite(magnitude)) {
      ++counts_[static_cast<std::size_t>(magnitude / width_)];
    }
  }
}

void Magnitudes::widen_for(double magnitude) {
  // Powers of two, so that bins that were joined are those that would have been there at once.
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const double width = std::ldexp(1.0, exponent) / static_cast<double>(kBins);
  if (counts_.empty()) {
    counts_.resize(kBins);
    width_ = width;
  }
  while (width_ < width) {
    for (std::size_t bin = 0; bin < kBins; ++bin) {
      counts_[bin] = bin < kBins / 2 ? counts_[2 * bin] + counts_[2 * bin + 1] : 0;
    }
    width_ *= 2;
  }
}

double Magnitudes::best_cut(double levels) const {
  if (counts_.empty()) {
    return 0;
  }
  // below[i]: the moments of the first i bins.
  std::vector<Moments> below(kBins + 1);
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    const auto count = static_cast<double>(counts_[bin]);
    const double magnitude = (static_cast<double>(bin) + 0.5) * width_;
    below[bin + 1] = {.count = below[bin].count + count,
                      .sum = below[bin].sum + count * magnitude,
                      .squares = below[bin].squares + count * magnitude * magnitude};
  }
  const Moments& all = below.back();
  double least = std::numeric_limits<double>::infinity();
  double best = largest_;
  for (std::size_t bins = 1; bins <= kBins; ++bins) {
    const double cut = std::min(static_cast<double>(bins) * width_, largest_);
    const double quantum = cut / levels;
    // What is below half a quantum becomes 0; what is above it is off by the quantum's 1 / sqrt(12)
    // in the mean; what is above the cut becomes the cut.
    const auto zeroed = static_cast<std::size_t>(quantum / 2 / width_);
    const double rounded = below[bins].count - below[std::min(zeroed, bins)].count;
    const double above = all.squares - below[bins].squares - 2 * cut * (all.sum - below[bins].sum) +
                         cut * cut * (all.count - below[bins].count);
    const double error =
        below[std::min(zeroed, bins)].squares + rounded * quantum * quantum / 12 + above;
    if (error < least) {
      least = error;
      best = cut;
    }
    if (cut == largest_) {
      break;
    }
  }
  return best;
}

}  // namespace bench
