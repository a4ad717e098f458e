#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/backend/convolutions.h"
#include "kernels/cuda/cudnn/descriptor.h"
#include "kernels/cuda/device/properties.h"

namespace bench::cuda {

/// One of cuDNN's engines with its settings, as numbers. They make the same plan again on another
/// machine with the same cuDNN.
struct EngineChoice {
  std::int64_t engine = 0;
  std::vector<std::pair<cudnnBackendKnobType_t, std::int64_t>> knobs = {};
  /// The finalised plan's workspace.
  std::size_t workspace_bytes = 0;
  bool tensor_cores = false;
  bool deterministic = true;

  /// "eng62_k2=5_k13=1", the form of cuDNN's tools.
  [[nodiscard]] std::string name() const;
};

/// True if the installed cuDNN knows a compute capability, 90 for 9.0. For an unknown one cuDNN
/// answers as if it knew it.
bool knows_capability(int capability);
/// "7.5, 8.0 and so on", for messages.
std::string known_capabilities();

/// The device in the form of cuDNN's queries. Throws UsageError for a device that cuDNN does not
/// know.
Descriptor device_descriptor(const DeviceProperties& device);

/// Which engines to look for.
struct EngineWish {
  ConvolutionProblem::Pass pass;
  /// The convolution's type.
  DType dtype;
  /// True if the padding before differs from the padding after.
  bool asymmetric;
  bool tf32;
  /// True if engines that are compiled at run time may be used as a fallback.
  bool compiled;
};
EngineWish wish_for(const ConvolutionProblem& problem, bool tf32);

/// Where a plan runs: on the handle's device, or only on a described one.
struct PlanTarget {
  cudnnHandle_t handle = nullptr;
  const Descriptor* device = nullptr;
};

/// The engines for a graph of one convolution, cuDNN's best first, at most 8. Each makes a plan for
/// the target. May be empty.
///
/// Engines that lose digits are skipped: Fourier transforms, Winograd with large tiles, and inputs
/// or partial sums in fewer bits. So are some that failed the conformance suite on an H100. For
/// f32, tensor cores are skipped too unless TF32 is allowed. Engines compiled at run time are used
/// only if cuDNN has nothing else.
///
/// `graph` must have been made with the target's handle. Without one, it needs no GPU.
std::vector<EngineChoice> find_engines(const Descriptor& graph, const PlanTarget& target,
                                       const EngineWish& wish);

/// The finalised plan of a choice. Throws DeviceError if cuDNN refuses.
Descriptor make_plan(const Descriptor& graph, const EngineChoice& choice, const PlanTarget& target);

/// Scratch memory that a finalised plan needs.
std::size_t workspace_bytes(const Descriptor& plan);

}  // namespace bench::cuda
