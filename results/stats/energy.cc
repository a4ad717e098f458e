#include "results/stats/energy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "models/base/errors.h"
#include "models/base/philox.h"
#include "results/record/statistics.h"

namespace bench::results::stats {
namespace {

/// Number of permutations that are split at once: the loops over them are vector instructions.
constexpr std::size_t kLanes = 8;
using Lanes = std::array<float, kLanes>;

/// The values less their median, divided by their spread, so that sums in f32 keep their digits.
std::vector<float> standardised(std::span<const double> values) {
  const double centre = median(values);
  const double spread = population_stddev(values);
  std::vector<float> result;
  for (const double value : values) {
    result.push_back(spread > 0 ? static_cast<float>((value - centre) / spread) : 0);
  }
  return result;
}

/// The best split of each lane.
struct Best {
  Lanes q{};
  std::array<Split, kLanes> split{};
};

/// The parts of Q that do not depend on the order: its factors by the sizes of the parts.
class SplitSearch {
 public:
  SplitSearch(std::size_t n, std::size_t least)
      : n_(n), least_(least), pairs_(n + 1), inverse_(n + 1) {
    for (std::size_t i = 2; i <= n; ++i) {
      pairs_[i] = 2.0F / (static_cast<float>(i) * static_cast<float>(i - 1));
    }
    for (std::size_t i = 1; i <= n; ++i) inverse_[i] = 1.0F / static_cast<float>(i);
    within_.resize(n + 1);
    before_.resize(n + 1);
  }

  /// The best split of each lane's series.
  std::array<Split, kLanes> best(std::span<const Lanes> z) {
    sum_from_start(z);
    Best best;
    best.q.fill(std::numeric_limits<float>::lowest());
    std::fill(within_.begin(), within_.end(), Lanes{});
    for (std::size_t at = n_; at-- > least_;) {
      Lanes row{};
      for (std::size_t j = at + 1; j < n_; ++j) {
        Lanes& within = within_[j + 1];
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
          row[lane] += std::abs(z[j][lane] - z[at][lane]);
          within[lane] += row[lane];
        }
      }
      for (std::size_t end = at + least_; end <= n_; ++end) take_larger(at, end, best);
    }
    return best.split;
  }

 private:
  /// before_[k]: the sum of distances between all pairs of the first k values.
  void sum_from_start(std::span<const Lanes> z) {
    before_[0] = {};
    for (std::size_t k = 0; k < n_; ++k) {
      Lanes row{};
      for (std::size_t i = 0; i < k; ++i) {
        for (std::size_t lane = 0; lane < kLanes; ++lane)
          row[lane] += std::abs(z[i][lane] - z[k][lane]);
      }
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        before_[k + 1][lane] = before_[k][lane] + row[lane];
    }
  }

  void take_larger(std::size_t at, std::size_t end, Best& best) const {
    const std::size_t right = end - at;
    // m n / (m + n) times 2 / (m n) is 2 / (m + n).
    const float across = 2 * inverse_[end];
    const float scale = static_cast<float>(at) * static_cast<float>(right) * inverse_[end];
    const float left_pairs = across + scale * pairs_[at];
    const float right_pairs = across + scale * pairs_[right];
    const Lanes& left = before_[at];
    const Lanes& all = before_[end];
    const Lanes& inside = within_[end];
    Lanes q;
    float above = std::numeric_limits<float>::lowest();
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      q[lane] = across * all[lane] - left_pairs * left[lane] - right_pairs * inside[lane];
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      above = std::max(above, q[lane] - best.q[lane]);
    if (above <= 0) return;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      if (q[lane] <= best.q[lane]) continue;
      best.q[lane] = q[lane];
      best.split[lane] = {.at = at, .end = end, .q = q[lane]};
    }
  }

  std::size_t n_;
  std::size_t least_;
  std::vector<float> pairs_;    ///< 2 / (i (i - 1)).
  std::vector<float> inverse_;  ///< 1 / i.
  std::vector<Lanes> within_;   ///< By end: the sum over pairs from `at` on.
  std::vector<Lanes> before_;
};

}  // namespace

Split best_split(std::span<const double> values, std::size_t least) {
  check(least >= 2, "a part of a split needs at least two values");
  if (values.size() < 2 * least) return {};
  std::vector<Lanes> z(values.size());
  const std::vector<float> one = standardised(values);
  for (std::size_t i = 0; i < one.size(); ++i) z[i].fill(one[i]);
  return SplitSearch(values.size(), least).best(z)[0];
}

double split_p(std::span<const double> values, const Split& split, const PermutationTest& test) {
  if (split.at == 0) return 1;
  SplitSearch search(values.size(), test.least);
  std::vector<float> order = standardised(values);
  std::vector<Lanes> z(values.size());
  RandomStream random(test.seed, test.stream);
  int made = 0;
  int exceedances = 0;
  while (made < test.permutations && (exceedances > 0 || made < test.clear_after)) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      shuffle(order, random);
      for (std::size_t i = 0; i < order.size(); ++i) z[i][lane] = order[i];
    }
    for (const Split& permuted : search.best(z)) {
      if (made == test.permutations) break;
      ++made;
      if (permuted.q >= split.q) ++exceedances;
      if (exceedances == test.enough_exceedances) return static_cast<double>(exceedances) / made;
    }
  }
  return static_cast<double>(1 + exceedances) / (1 + made);
}

}  // namespace bench::results::stats
