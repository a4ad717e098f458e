#include "kernels/cuda/backend/provider.h"

#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device/runtime.h"
#include "models/base/errors.h"

namespace bench::cuda {
namespace {

class Provider final : public GpuProvider {
 public:
  explicit Provider(ProviderLibraries libraries) : libraries_(std::move(libraries)) {}

  PresentGpus gpus() override {
    libraries_.check_versions();
    PresentDevices present = present_devices();
    PresentGpus found{.usable = {}, .left_out = std::move(present.left_out)};
    for (const PresentDevice& device : present.usable) {
      const DeviceProperties& properties = device.properties;
      found.usable.push_back({.name = properties.name,
                              .capability = properties.capability,
                              .memory_bytes = properties.memory_bytes,
                              .pci_bus_id = properties.pci_bus_id,
                              .driver = driver_version()});
    }
    return found;
  }

  std::unique_ptr<Backend> make_backend(std::size_t gpu, const GpuOptions& options) override {
    libraries_.check_versions();
    const std::vector<PresentDevice> devices = present_devices().usable;
    if (gpu >= devices.size()) {
      throw UsageError(
          fmt::format("GPU {} does not exist: this host has {} usable GPUs, numbered from 0", gpu,
                      devices.size()));
    }
    return assemble(devices[gpu].properties, devices[gpu].ordinal, options);
  }

  PlannedGpu make_planner(std::string_view card, const GpuOptions& options) override {
    libraries_.check_versions();
    const DeviceProperties device = described_device(card);
    return {.backend = assemble(device, kOnlyPlanned, options),
            .gpu = {.name = device.name,
                    .capability = device.capability,
                    .memory_bytes = device.memory_bytes},
            .speeds = planning_text(device)};
  }

  [[nodiscard]] std::string libraries() const override { return libraries_.versions; }

 private:
  static constexpr int kOnlyPlanned = -1;

  [[nodiscard]] std::unique_ptr<Backend> assemble(const DeviceProperties& device, int index,
                                                  const GpuOptions& options) const {
    return assemble_backend({.device = device,
                             .convolutions = libraries_.convolutions(device, options.tf32),
                             .products = libraries_.products(device, options.tf32),
                             .rnn_layers = libraries_.rnn_layers(device, options.tf32),
                             .index = index});
  }

  ProviderLibraries libraries_;
};

}  // namespace

std::unique_ptr<GpuProvider> make_provider(ProviderLibraries libraries) {
  return std::make_unique<Provider>(std::move(libraries));
}

}  // namespace bench::cuda
