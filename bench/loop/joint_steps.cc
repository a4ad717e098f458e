#include "bench/loop/joint_steps.h"

#include <cmath>

namespace bench {

using std::chrono::nanoseconds;

void JointSteps::report(nanoseconds time, std::int64_t updates) {
  const auto elapsed = static_cast<double>((time - reported_at_).count());
  const auto made = static_cast<double>(updates - reported_);
  for (std::int64_t next = (complete() + 1) * workers_; next <= updates; next += workers_) {
    const double share = static_cast<double>(next - reported_) / made;
    const nanoseconds at = reported_at_ + nanoseconds(std::llround(share * elapsed));
    durations_.push_back(at - complete_until_);
    complete_until_ = at;
  }
  reported_ = updates;
  reported_at_ = time;
}

std::optional<nanoseconds> JointSteps::take() {
  if (durations_.empty()) {
    return std::nullopt;
  }
  const nanoseconds first = durations_.front();
  durations_.pop_front();
  return first;
}

}  // namespace bench
