#include "kernels/runtime/input_landing.h"

#include <utility>

#include "models/base/errors.h"

namespace bench {

InputLanding::InputLanding(const Plan& plan, Backend& backend, Stream& kernels)
    : plan_(plan),
      backend_(backend),
      kernels_(kernels),
      memory_(backend.allocate(plan.memory.report.landing)),
      copies_(backend.make_stream()) {}

void InputLanding::bring(std::size_t buffer, std::span<const std::byte> host, const TensorView& to,
                         Kernel* through) {
  const MemoryLayout::Landing& planned = plan_.memory.landings.at(buffer);
  check(host.size() <= planned.bytes, "input landing: the input is larger than its landing buffer");
  const auto [entry, first] = landed_.try_emplace(buffer, backend_);
  Landed& landed = entry->second;
  if (!first) {
    copies_->wait(*landed.taken);
  }
  std::byte* const place = memory_->data() + planned.offset;
  if (timed_) {
    copies_->record(*landed.begun);
    landed.is_new = true;
  }
  copies_->upload(host, place);
  copies_->record(*landed.arrived);
  const Arrival arrival{.landed = &landed,
                        .from = {.data = place, .bytes = host.size()},
                        .to = to,
                        .through = through};
  if (ahead_) {
    ahead_arrivals_.push_back(arrival);
  } else {
    take(arrival);
  }
}

void InputLanding::take() {
  ahead_ = false;
  for (const Arrival& arrival : ahead_arrivals_) {
    take(arrival);
  }
  ahead_arrivals_.clear();
}

std::chrono::nanoseconds InputLanding::transfer_time() {
  timed_ = true;
  std::chrono::nanoseconds total{};
  for (auto& [buffer, landed] : landed_) {
    if (std::exchange(landed.is_new, false)) {
      total += landed.arrived->since(*landed.begun);
    }
  }
  return total;
}

void InputLanding::take(const Arrival& arrival) {
  kernels_.wait(*arrival.landed->arrived);
  if (arrival.through == nullptr) {
    kernels_.copy(arrival.from.data, arrival.to.data, arrival.from.bytes);
  } else {
    arrival.through->launch(kernels_, {&arrival.from, 1}, {&arrival.to, 1}, nullptr);
  }
  kernels_.record(*arrival.landed->taken);
}

}  // namespace bench
