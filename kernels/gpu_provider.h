#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/backend.h"

namespace bench {

/// A GPU of this host, in the order of the driver.
struct GpuDescription {
  std::string name;
  /// 90 for compute capability 9.0.
  int capability = 0;
  std::int64_t memory_bytes = 0;
  /// The PCI address, "0000:0e:00.0", by which the driver's other libraries identify it.
  std::string pci_bus_id = {};
  /// The newest CUDA version that its driver supports: "13.0".
  std::string driver = {};
};

/// The usable GPUs of this host, and a sentence for each unusable one.
struct PresentGpus {
  std::vector<GpuDescription> usable = {};
  std::vector<std::string> left_out = {};
};

struct GpuOptions {
  /// Convolutions and products in f32 may round their inputs to TF32, 10 bits of fraction.
  bool tf32 = false;
};

/// A card that is only planned for.
struct PlannedGpu {
  std::unique_ptr<Backend> backend;
  /// Without the values that only a present card has.
  GpuDescription gpu = {};
  /// The speeds behind its estimates and their sources: "2512.5 GB/s (0.75 of the data sheet),
  /// ...".
  std::string speeds = {};
};

/// Computes on GPUs: a separate library, opened at run time, so that one program runs on hosts with
/// and without GPUs.
class GpuProvider {
 public:
  GpuProvider() = default;
  GpuProvider(const GpuProvider&) = delete;
  GpuProvider& operator=(const GpuProvider&) = delete;
  virtual ~GpuProvider() = default;
  /// The usable GPUs, at least one. Otherwise throws UsageError with the reason in a sentence.
  virtual PresentGpus gpus() = 0;
  /// A backend for one of them, which only the host thread that creates it may use. Throws
  /// UsageError.
  virtual std::unique_ptr<Backend> make_backend(std::size_t gpu, const GpuOptions& options) = 0;
  /// Plans for a card that need not be present, given by its capability, such as sm_90, or by a
  /// description file. Throws UsageError that lists the known ones or explains the error.
  virtual PlannedGpu make_planner(std::string_view card, const GpuOptions& options) = 0;
  /// The libraries that it uses: "cuDNN 9.19.0, cuBLASLt 13.1.0".
  [[nodiscard]] virtual std::string libraries() const = 0;
};

/// The entry of such a library: null if it was built from another version of this one.
using GpuProviderEntry = GpuProvider*(const char* build);
inline constexpr const char* kGpuProviderEntry = "bench_gpu_provider";

/// The folder of the core library, which also contains the plug-ins.
std::filesystem::path plugin_folder();

/// The library next to this one, or the one in the environment's BENCH_GPU_LIBRARY, opened at the
/// first call. Throws UsageError with the reason if it is missing.
GpuProvider& open_gpu_provider();

/// The same if the host may have a GPU, which is a fast check; otherwise null and the reason.
struct FoundGpus {
  GpuProvider* provider = nullptr;
  std::vector<GpuDescription> gpus = {};
  std::vector<std::string> left_out = {};
  std::string why_none = {};
  /// "this host has 1 usable GPU", and the unusable ones.
  [[nodiscard]] std::string how_many() const;
  /// Throws UsageError that names `flag`, which needs a GPU, unless a GPU was found.
  void check_any(std::string_view flag) const;
};
FoundGpus find_gpus();

}  // namespace bench
