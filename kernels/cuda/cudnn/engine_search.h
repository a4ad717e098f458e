#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/convolutions.h"
#include "kernels/cuda/cudnn/descriptor.h"
#include "kernels/cuda/properties.h"

namespace bench::cuda {

/// One of cuDNN's engines with its settings, as numbers: what makes the same plan again on another
/// machine with the same cuDNN.
struct EngineChoice {
  std::int64_t engine = 0;
  std::vector<std::pair<cudnnBackendKnobType_t, std::int64_t>> knobs = {};
  /// Of the finalised plan.
  std::size_t workspace_bytes = 0;
  bool tensor_cores = false;
  bool deterministic = true;

  /// "eng62_k2=5_k13=1", as cuDNN's own programs write it.
  [[nodiscard]] std::string name() const;
};

/// Whether the installed cuDNN knows a compute capability, 90 for 9.0. Asked for one that it does
/// not know it answers as if it did.
bool knows_capability(int capability);
/// "7.5, 8.0 and so on" in words, for messages.
std::string known_capabilities();

/// The device as cuDNN's queries take it. Throws UsageError for one that it does not know.
Descriptor device_descriptor(const DeviceProperties& device);

/// Which engines are looked for.
struct EngineWish {
  /// Of the convolution.
  DType dtype = DType::f32;
  bool tf32 = false;
  /// Whether those that are compiled at run time may stand in.
  bool compiled = true;
};

/// The engines for a graph of one convolution, cuDNN's best first, at most 8, all of which make a
/// plan for the device. Empty where there is none. Left out are those that lose digits: Fourier
/// transforms, Winograd's of large tiles, inputs or partial sums in fewer bits, and for f32 all
/// tensor cores unless TF32 is allowed. Those compiled at run time stand in only where there is no
/// other one. `graph` was made without a handle. Needs no GPU.
std::vector<EngineChoice> find_engines(const Descriptor& graph, const Descriptor& device,
                                       const EngineWish& wish);

/// Where a plan is to run: on the handle's device, or nowhere but on a described one.
struct PlanTarget {
  cudnnHandle_t handle = nullptr;
  const Descriptor* device = nullptr;
};

/// The finalised plan of a choice. Throws DeviceError where cuDNN refuses.
Descriptor make_plan(const Descriptor& graph, const EngineChoice& choice, const PlanTarget& target);

/// Scratch memory that a finalised plan needs.
std::size_t workspace_bytes(const Descriptor& plan);

}  // namespace bench::cuda
