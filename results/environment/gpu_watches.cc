#include "results/environment/gpu_watches.h"

#include "models/base/errors.h"

namespace bench {

GpuWatches::GpuWatches(std::span<const std::unique_ptr<GpuSensors>> sensors, const Clock& clock) {
  for (const auto& each : sensors) {
    watches_.push_back(each == nullptr ? nullptr : std::make_unique<GpuWatch>(*each, clock));
  }
}

void GpuWatches::begin() {
  for (const auto& watch : watches_) {
    if (watch != nullptr) watch->begin();
  }
}

void GpuWatches::end() {
  for (const auto& watch : watches_) {
    if (watch != nullptr) watch->end();
  }
}

void GpuWatches::add_to(std::span<results::Gpu> gpus) const {
  check(gpus.size() == watches_.size(), "the numbers of GPUs and watches differ");
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (watches_[i] != nullptr) gpus[i].watched = watches_[i]->result();
  }
}

}  // namespace bench
