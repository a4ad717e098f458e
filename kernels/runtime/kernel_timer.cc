#include "kernels/runtime/kernel_timer.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <vector>

#include "models/base/errors.h"

namespace bench {
namespace {

class EventTimer final : public KernelTimer {
 public:
  explicit EventTimer(Backend& backend)
      : begin_(backend.make_event()), end_(backend.make_event()) {}

  double seconds(Stream& stream, const std::function<void()>& enqueue) override {
    stream.record(*begin_);
    enqueue();
    stream.record(*end_);
    stream.synchronize();
    return std::chrono::duration<double>(end_->since(*begin_)).count();
  }

 private:
  std::unique_ptr<Event> begin_;
  std::unique_ptr<Event> end_;
};

double median(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

}  // namespace

std::unique_ptr<KernelTimer> make_event_timer(Backend& backend) {
  return std::make_unique<EventTimer>(backend);
}

double settled_seconds(const std::function<double()>& sample, const SamplingRule& rule) {
  check(rule.alike > 0 && rule.alike <= rule.most,
        "kernel timer: more samples must agree than are taken");
  static_cast<void>(sample());
  std::vector<double> samples;
  while (samples.size() < rule.most) {
    samples.push_back(sample());
    if (samples.size() >= rule.alike) {
      const auto last = std::span<const double>(samples).last(rule.alike);
      const auto [shortest, longest] = std::minmax_element(last.begin(), last.end());
      if (*longest <= *shortest * (1 + rule.within)) {
        return median(last);
      }
    }
  }
  return median(samples);
}

}  // namespace bench
