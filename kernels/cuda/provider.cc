#include "kernels/cuda/provider.h"

#include "kernels/cuda/device.h"
#include "kernels/cuda/runtime.h"
#include "models/base/errors.h"

namespace bench::cuda {
namespace {

class Provider final : public GpuProvider {
 public:
  explicit Provider(ProviderLibraries libraries) : libraries_(std::move(libraries)) {}

  std::vector<GpuDescription> gpus() override {
    libraries_.check_versions();
    std::vector<GpuDescription> found;
    for (const DeviceProperties& device : present_devices()) {
      found.push_back({.name = device.name,
                       .capability = device.capability,
                       .memory_bytes = device.memory_bytes,
                       .pci_bus_id = device.pci_bus_id,
                       .driver = driver_version()});
    }
    return found;
  }

  std::unique_ptr<Backend> make_backend(std::size_t gpu, const GpuOptions& options) override {
    libraries_.check_versions();
    const std::vector<DeviceProperties> devices = present_devices();
    if (gpu >= devices.size()) {
      throw UsageError(cat("GPU ", gpu, ": this host has ", devices.size(), ", from 0 on"));
    }
    return assemble(devices[gpu], static_cast<int>(gpu), options);
  }

  std::unique_ptr<Backend> make_planner(std::string_view card, const GpuOptions& options) override {
    libraries_.check_versions();
    return assemble(described_device(card), kOnlyPlanned, options);
  }

  [[nodiscard]] std::string libraries() const override { return libraries_.versions; }

 private:
  static constexpr int kOnlyPlanned = -1;

  [[nodiscard]] std::unique_ptr<Backend> assemble(const DeviceProperties& device, int index,
                                                  const GpuOptions& options) const {
    return assemble_backend({.device = device,
                             .convolutions = libraries_.convolutions(device, options.tf32),
                             .products = libraries_.products(device, options.tf32),
                             .index = index});
  }

  ProviderLibraries libraries_;
};

}  // namespace

std::unique_ptr<GpuProvider> make_provider(ProviderLibraries libraries) {
  return std::make_unique<Provider>(std::move(libraries));
}

}  // namespace bench::cuda
