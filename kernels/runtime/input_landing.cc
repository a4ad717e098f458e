#include "kernels/runtime/input_landing.h"

namespace bench {

InputLanding::InputLanding(const Plan& plan, Backend& backend, Stream& kernels)
    : plan_(plan),
      backend_(backend),
      kernels_(kernels),
      memory_(backend.allocate(plan.memory.report.landing)),
      copies_(backend.make_stream()) {}

void InputLanding::bring(std::size_t buffer, std::span<const std::byte> host, void* to) {
  const auto [entry, first] = landed_.try_emplace(buffer, backend_);
  Landed& landed = entry->second;
  if (!first) {
    copies_->wait(*landed.taken);
  }
  // Regions are laid out alike.
  std::byte* const place = memory_->data() + plan_.memory.offsets[buffer];
  copies_->upload(host, place);
  copies_->record(*landed.arrived);
  kernels_.wait(*landed.arrived);
  kernels_.copy(place, to, host.size());
  kernels_.record(*landed.taken);
}

}  // namespace bench
