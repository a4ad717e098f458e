#include "kernels/onednn/residual.h"

#include <cstring>

namespace bench::onednn {
namespace {

class AddToResidual final : public Kernel {
 public:
  AddToResidual(cpu::ThreadTeam& team, std::unique_ptr<Kernel> kernel, std::size_t residual)
      : team_(team), kernel_(std::move(kernel)), residual_(residual) {}
  void launch(Stream& stream, std::span<const TensorView> inputs,
              std::span<const TensorView> outputs, void* workspace) override {
    const auto* const from = inputs[residual_].as<const std::byte>();
    auto* const to = outputs[0].as<std::byte>();
    if (from != to) {
      constexpr std::int64_t kPageBytes = 4096;
      team_.for_ranges(static_cast<std::int64_t>(outputs[0].bytes), kPageBytes, [&](Range range) {
        std::memcpy(to + range.begin, from + range.begin, static_cast<std::size_t>(range.count()));
      });
    }
    kernel_->launch(stream, inputs, outputs, workspace);
  }

 private:
  using Range = cpu::Range;
  cpu::ThreadTeam& team_;
  std::unique_ptr<Kernel> kernel_;
  std::size_t residual_;
};

}  // namespace

std::function<std::unique_ptr<Kernel>()> adding_to_residual(
    Context& context, std::function<std::unique_ptr<Kernel>()> make, std::size_t residual) {
  return [&team = context.team, make = std::move(make), residual] {
    return std::make_unique<AddToResidual>(team, make(), residual);
  };
}

}  // namespace bench::onednn
