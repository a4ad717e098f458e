#include "results/stats/distributions.h"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

#include "models/base/errors.h"

namespace bench::results::stats {

double normal_quantile(double p) {
  check(p > 0 && p < 1, "normal quantile: p must be between 0 and 1");
  return boost::math::quantile(boost::math::normal(), p);
}

double normal_cdf(double z) { return boost::math::cdf(boost::math::normal(), z); }

double student_quantile(double p, double degrees) {
  check(p > 0 && p < 1 && degrees > 0,
        "t quantile: p must be between 0 and 1, and degrees positive");
  return boost::math::quantile(boost::math::students_t(degrees), p);
}

double fair_binomial_cdf(int k, int n) {
  if (k < 0) return 0;
  if (k >= n) return 1;
  return boost::math::cdf(boost::math::binomial(n, 0.5), k);
}

}  // namespace bench::results::stats
