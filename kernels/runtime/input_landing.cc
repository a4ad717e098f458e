#include "kernels/runtime/input_landing.h"

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
  check(host.size() <= planned.bytes, "input landing: more arrives than there is a place for");
  const auto [entry, first] = landed_.try_emplace(buffer, backend_);
  Landed& landed = entry->second;
  if (!first) {
    copies_->wait(*landed.taken);
  }
  std::byte* const place = memory_->data() + planned.offset;
  copies_->upload(host, place);
  copies_->record(*landed.arrived);
  kernels_.wait(*landed.arrived);
  if (through == nullptr) {
    kernels_.copy(place, to.data, host.size());
  } else {
    const TensorView arrived{.data = place, .bytes = host.size()};
    through->launch(kernels_, {&arrived, 1}, {&to, 1}, nullptr);
  }
  kernels_.record(*landed.taken);
}

}  // namespace bench
