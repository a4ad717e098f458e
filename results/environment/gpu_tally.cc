#include "results/environment/gpu_tally.h"

#include <algorithm>
#include <numeric>

#include "models/base/errors.h"

namespace bench {
namespace {

using std::chrono::nanoseconds;

/// The increase of a counter; a counter restarts with the driver.
template <class Value>
Captured<Value> difference(const Captured<Value>& before, const Captured<Value>& after) {
  for (const auto* value : {&before, &after}) {
    if (!value->known()) {
      return Unknown{value->why()};
    }
  }
  if (after.value() < before.value()) {
    return Unknown{"the counter decreased"};
  }
  return after.value() - before.value();
}

}  // namespace

void GpuTally::Column::add(const Captured<double>& value) {
  if (value.known()) {
    values_.push_back(value.value());
  } else {
    why_ = value.why();
  }
}

Captured<results::Spread> GpuTally::Column::spread() const {
  if (values_.empty()) {
    return Unknown{why_};
  }
  const auto [min, max] = std::minmax_element(values_.begin(), values_.end());
  return results::Spread{.mean = std::accumulate(values_.begin(), values_.end(), 0.0) /
                                 static_cast<double>(values_.size()),
                         .min = *min,
                         .max = *max};
}

void GpuTally::begin() {
  began_ = clock_.now();
  before_ = sensors_.counters();
  sample();
}

void GpuTally::sample() {
  // The list of processes takes longer to read than everything else together.
  constexpr std::int64_t kSamplesPerList = 10;
  if (samples_ % kSamplesPerList == 0) {
    look_for_others();
  }
  const GpuSample sample = sensors_.sample();
  ++samples_;
  sm_mhz_.add(sample.sm_mhz);
  watts_.add(sample.watts);
  celsius_.add(sample.celsius);
  utilization_.add(sample.utilization);
  if (sample.clock_events.known()) {
    events_.samples.push_back(sample.clock_events.value());
  } else {
    why_no_events_ = sample.clock_events.why();
  }
}

void GpuTally::end() {
  after_ = sensors_.counters();
  ended_ = clock_.now();
  look_for_others();
}

void GpuTally::look_for_others() {
  const GpuOthers now = sensors_.others();
  if (now.count.known()) {
    most_others_ = std::max(most_others_.value_or(0), now.count.value());
  } else {
    why_no_count_ = now.count.why();
  }
  if (!now.processes.known()) {
    why_no_others_ = now.processes.why();
    return;
  }
  for (const results::GpuProcess& process : now.processes.value()) {
    const auto known = std::find_if(others_.begin(), others_.end(),
                                    [&](const auto& other) { return other.pid == process.pid; });
    if (known == others_.end()) {
      others_.push_back(process);
    } else if (process.memory.value_or(0) > known->memory.value_or(0)) {
      known->memory = process.memory;
    }
  }
}

Captured<double> GpuTally::joules() const {
  const nanoseconds window = ended_ - began_;
  if (window < kLeastEnergyWindow) {
    return Unknown{fmt::format("the energy counter needs {} s of steps, but they took {:g} s",
                               kLeastEnergyWindow.count(),
                               std::chrono::duration<double>(window).count())};
  }
  return difference(before_.joules, after_.joules);
}

results::GpuWatched GpuTally::result() const {
  results::GpuWatched watched{
      .window = ended_ - began_,
      .samples = samples_,
      .sm_mhz = sm_mhz_.spread(),
      .watts = watts_.spread(),
      .celsius = celsius_.spread(),
      .utilization = utilization_.spread(),
      .power_violation = difference(before_.power_violation, after_.power_violation),
      .thermal_violation = difference(before_.thermal_violation, after_.thermal_violation),
      .joules = joules(),
      .ecc_corrected = difference(before_.ecc_corrected, after_.ecc_corrected),
      .ecc_uncorrected = difference(before_.ecc_uncorrected, after_.ecc_uncorrected)};
  if (events_.samples.empty()) {
    watched.clock_events = Unknown{why_no_events_};
  } else {
    watched.clock_events = events_;
  }
  // A process that was seen counts, even if another reading of the list failed.
  if (most_others_) {
    watched.others_count = *most_others_;
  } else {
    watched.others_count = Unknown{why_no_count_};
  }
  if (others_.empty() && !why_no_others_.empty()) {
    watched.others = Unknown{why_no_others_};
  } else {
    watched.others = others_;
  }
  return watched;
}

}  // namespace bench
