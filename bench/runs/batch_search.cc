#include "bench/runs/batch_search.h"

#include <algorithm>

#include "bench/flags/batch_request.h"
#include "models/base/errors.h"

namespace bench {

BatchSearch search_batch(const MeasureBatch& measure, double tolerance) {
  check(tolerance >= 0 && tolerance < 1, "the tolerance is a fraction below 1");
  constexpr int kEnoughWithoutGain = 2;
  BatchSearch search;
  double best = 0;
  int without_gain = 0;
  for (std::int64_t batch = 1; batch <= kLargestBatch && without_gain < kEnoughWithoutGain;
       batch *= 2) {
    const auto trial = measure(batch);
    if (!trial) {
      break;
    }
    search.tried.push_back(*trial);
    without_gain = trial->images_per_sec > best * (1 + tolerance) ? 0 : without_gain + 1;
    best = std::max(best, trial->images_per_sec);
  }
  const auto good =
      std::find_if(search.tried.begin(), search.tried.end(), [&](const results::BatchTrial& trial) {
        return trial.images_per_sec >= best * (1 - tolerance);
      });
  search.chosen = good == search.tried.end() ? 0 : good->batch;
  return search;
}

}  // namespace bench
