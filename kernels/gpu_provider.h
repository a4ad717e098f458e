#pragma once

#include <cstdint>
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
  /// Where it is plugged in, "0000:0e:00.0": its name for the driver's other libraries.
  std::string pci_bus_id = {};
  /// The newest CUDA that its driver serves: "13.0".
  std::string driver = {};
};

/// Those of this host that can be used, and a sentence for each that is left out.
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
  /// Without what only a card has that is there.
  GpuDescription gpu = {};
  /// What its estimates go by, with where each is from: "3350 GB/s (data sheet), ...".
  std::string speeds = {};
};

/// What computes on GPUs: a library of its own, opened at run time, so that one program serves
/// hosts with and without them.
class GpuProvider {
 public:
  GpuProvider() = default;
  GpuProvider(const GpuProvider&) = delete;
  GpuProvider& operator=(const GpuProvider&) = delete;
  virtual ~GpuProvider() = default;
  /// At least one that can be used. Throws UsageError that says in a sentence why there is none.
  virtual PresentGpus gpus() = 0;
  /// Computes on one of them; to be used by the host thread that makes it. Throws UsageError.
  virtual std::unique_ptr<Backend> make_backend(std::size_t gpu, const GpuOptions& options) = 0;
  /// Plans for a card that need not be there: by its capability, as sm_90, or by a file that
  /// describes it. Throws UsageError that names those there are, or says what is wrong.
  virtual PlannedGpu make_planner(std::string_view card, const GpuOptions& options) = 0;
  /// Of the libraries it computes with: "cuDNN 9.19.0, cuBLASLt 13.1.0".
  [[nodiscard]] virtual std::string libraries() const = 0;
};

/// The entry of such a library: null where it was built from another version of this one.
using GpuProviderEntry = GpuProvider*(const char* build);
inline constexpr const char* kGpuProviderEntry = "bench_gpu_provider";

/// The one beside this library, or that of the environment's BENCH_GPU_LIBRARY, opened at the first
/// call. Throws UsageError that says why there is none.
GpuProvider& open_gpu_provider();

/// The same where a GPU may be there at all, which takes no time to see; null and why not else.
struct FoundGpus {
  GpuProvider* provider = nullptr;
  std::vector<GpuDescription> gpus = {};
  std::vector<std::string> left_out = {};
  std::string why_none = {};
  /// "this host has 1 GPU that can be used", and which not.
  [[nodiscard]] std::string how_many() const;
  /// Throws UsageError that names the flag that asks for one where there is none.
  void check_any(std::string_view flag) const;
};
FoundGpus find_gpus();

}  // namespace bench
