#pragma once

namespace bench::results::stats {

/// The point below which the standard normal has probability `p`, 0 < p < 1.
double normal_quantile(double p);

/// The probability of the standard normal below `z`.
double normal_cdf(double z);

/// The same as normal_quantile for Student's t with `degrees` degrees of freedom (> 0).
double student_quantile(double p, double degrees);

/// P(X <= k) of a binomial with n trials of probability 1/2.
double fair_binomial_cdf(int k, int n);

}  // namespace bench::results::stats
