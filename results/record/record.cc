#include "results/record/record.h"

#include <cmath>
#include <limits>

namespace bench::results {

double VerifiedNumber::share() const {
  if (deviation == 0) {
    return 0;
  }
  return tolerance > 0 && !std::isnan(deviation) ? deviation / tolerance
                                                 : std::numeric_limits<double>::infinity();
}

}  // namespace bench::results
