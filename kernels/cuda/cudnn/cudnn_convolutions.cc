#include "kernels/cuda/cudnn/cudnn_convolutions.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "kernels/cuda/cudnn/convolution_graph.h"
#include "kernels/cuda/cudnn/engine_search.h"
#include "kernels/cuda/cudnn/handle.h"
#include "kernels/cuda/device/current_device.h"
#include "models/base/errors.h"

namespace bench::cuda {
namespace {

/// Formats 91900 as 9.19.0; formats 8907, in cuDNN 8's numbering, as 8.9.7.
std::string version_text(std::size_t version) {
  if (version < 10000) {
    return fmt::format("{}.{}.{}", version / 1000, version / 100 % 10, version % 100);
  }
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

/// Ids of the tensors that a launch gives a plan.
std::vector<std::int64_t> tensors_of(const ConvolutionProblem& problem) {
  std::vector<std::int64_t> names(kConvolutionTensors.begin(), kConvolutionTensors.end());
  if (problem.epilogue.bias) {
    names.push_back(kBiasTensor);
  }
  if (problem.epilogue.residual) {
    names.push_back(kResidualTensor);
  }
  if (problem.statistics) {
    names.insert(names.end(), {kSumsTensor, kSquaresTensor});
  }
  if (problem.prologue) {
    names.insert(names.end(), {kScaleTensor, kShiftTensor});
  }
  return names;
}

class CudnnPlan final : public ConvolutionPlan {
 public:
  CudnnPlan(std::shared_ptr<Handle> handle, const ConvolutionProblem& problem,
            const EngineChoice& choice)
      : handle_(std::move(handle)),
        epilogue_(problem.epilogue),
        statistics_(problem.statistics),
        prologue_(problem.prologue),
        names_(tensors_of(problem)),
        graph_(problem, handle_->get()),
        plan_(make_plan(graph_.graph, choice, {.handle = handle_->get()})) {
    if (const std::size_t needed = workspace_bytes(plan_); needed > choice.workspace_bytes) {
      throw DeviceError(fmt::format(
          "cudnn: {} was planned with {} bytes of workspace, but needs {} on this device",
          choice.name(), choice.workspace_bytes, needed));
    }
  }

  void launch(cudaStream_t stream, const ConvolutionMemory& memory) override {
    bind(memory);
    check_cudnn(cudnnBackendExecute(handle_->on(stream), plan_.get(), pack_.get()),
                "cudnnBackendExecute");
  }

 private:
  /// The pointers, in the order of names_.
  [[nodiscard]] std::vector<void*> pointers_of(const ConvolutionMemory& memory) const {
    std::vector<void*> pointers{const_cast<void*>(memory.first), const_cast<void*>(memory.second),
                                memory.result};
    if (epilogue_.bias) {
      pointers.push_back(const_cast<void*>(memory.bias));
    }
    if (epilogue_.residual) {
      pointers.push_back(const_cast<void*>(memory.residual));
    }
    if (statistics_) {
      pointers.insert(pointers.end(), {memory.sums, memory.squares});
    }
    if (prologue_) {
      pointers.insert(pointers.end(),
                      {const_cast<void*>(memory.scale), const_cast<void*>(memory.shift)});
    }
    return pointers;
  }

  /// A finalised variant pack cannot be changed; a step's memory does not change either.
  void bind(const ConvolutionMemory& memory) {
    if (bound_ == memory) {
      return;
    }
    std::vector<void*> pointers = pointers_of(memory);
    Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.set_integers(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, names_);
    pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
             static_cast<std::int64_t>(pointers.size()), pointers.data());
    pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &memory.workspace);
    pack.finalize();
    pack_ = std::move(pack);
    bound_ = memory;
  }

  std::shared_ptr<Handle> handle_;
  Epilogue epilogue_;
  bool statistics_;
  bool prologue_;
  std::vector<std::int64_t> names_;
  ConvolutionGraph graph_;
  Descriptor plan_;
  Descriptor pack_{CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR};
  /// The memory that pack_ has.
  std::optional<ConvolutionMemory> bound_;
};

/// The problem as a map key.
std::vector<std::int64_t> key_of(const ConvolutionProblem& problem) {
  std::vector<std::int64_t> key{static_cast<std::int64_t>(problem.pass),
                                static_cast<std::int64_t>(problem.dtype),
                                static_cast<std::int64_t>(problem.order), problem.groups};
  const auto append = [&](const auto& numbers) {
    key.insert(key.end(), numbers.begin(), numbers.end());
  };
  append(problem.x);
  append(problem.filter);
  append(problem.y);
  append(problem.window.kernel);
  append(problem.window.stride);
  append(problem.window.dilation);
  append(problem.window.pad_before);
  append(problem.window.pad_after);
  append(std::array{std::int64_t{problem.epilogue.bias}, std::int64_t{problem.epilogue.residual},
                    static_cast<std::int64_t>(problem.epilogue.activation),
                    std::int64_t{problem.statistics}, std::int64_t{problem.prologue}});
  return key;
}

class CudnnConvolutions final : public Convolutions {
 public:
  CudnnConvolutions(const DeviceProperties& device, bool tf32)
      : device_(device_descriptor(device)),
        capability_(device.capability),
        pci_bus_id_(device.pci_bus_id),
        tf32_(tf32) {}

  std::vector<ConvolutionChoice> choices(const ConvolutionProblem& problem) override {
    if (!in_one_graph(problem) || !taken(problem)) {
      return {};
    }
    const std::vector<std::int64_t> key = key_of(problem);
    auto entry = found_.find(key);
    if (entry == found_.end()) {
      entry = found_.emplace(key, engines(problem)).first;
    }
    std::vector<ConvolutionChoice> result;
    for (const EngineChoice& engine : entry->second) {
      result.push_back({.implementation = fmt::format("cudnn:{}", engine.name()),
                        .workspace_bytes = engine.workspace_bytes,
                        // Engines for batch norm, which are f16 only, mostly lack the note.
                        .tensor_cores = engine.tensor_cores || with_batch_norm(problem),
                        // Engines for statistics lack the note too. On an H100, the sums of two
                        // equal launches differ in their last bits.
                        .deterministic = engine.deterministic && !problem.statistics,
                        .make = [handle = handle_, problem, engine] {
                          return std::make_unique<CudnnPlan>(handle, problem, engine);
                        }});
    }
    return result;
  }

  [[nodiscard]] std::string version() const override { return version_text(cudnnGetVersion()); }

 private:
  [[nodiscard]] std::vector<EngineChoice> engines(const ConvolutionProblem& problem) const {
    const EngineWish wish = wish_for(problem, tf32_);
    if (pci_bus_id_.empty()) {
      return find_engines(ConvolutionGraph(problem, nullptr).graph, {.device = &device_}, wish);
    }
    const CurrentDevice current(pci_bus_id_);
    const cudnnHandle_t handle = handle_->get();
    return find_engines(ConvolutionGraph(problem, handle).graph, {.handle = handle}, wish);
  }

  static bool with_batch_norm(const ConvolutionProblem& problem) {
    return problem.statistics || problem.prologue;
  }

  /// True if bench uses these engines on the device: only where cuDNN's documentation lists them.
  /// For other devices, such as 8.9, cuDNN may name some too.
  [[nodiscard]] bool taken(const ConvolutionProblem& problem) const {
    constexpr std::array kWithStatistics{80, 86, 90, 100};
    constexpr std::array kWithPrologue{80, 86, 90};
    const auto among = [this](const auto& capabilities) {
      return std::ranges::find(capabilities, capability_) != capabilities.end();
    };
    return problem.prologue ? among(kWithPrologue) : !problem.statistics || among(kWithStatistics);
  }

  Descriptor device_;
  int capability_;
  /// Empty for a device that is only described. cuDNN's plans for it need less workspace than those
  /// for a present device.
  std::string pci_bus_id_;
  bool tf32_;
  std::map<std::vector<std::int64_t>, std::vector<EngineChoice>> found_;
  /// Outlives the plans.
  std::shared_ptr<Handle> handle_ = std::make_shared<Handle>();
};

}  // namespace

void check_cudnn_version(std::size_t version) {
  constexpr std::size_t kMajor = 10000;
  constexpr std::size_t kMinor = 100;
  // Patches change neither the declarations nor their meaning.
  if (version / kMajor != CUDNN_MAJOR || version / kMinor < CUDNN_VERSION / kMinor) {
    throw UsageError(fmt::format(
        "this program was built with cuDNN {} and needs {}.{} or a newer {}.x, but found cuDNN {}",
        version_text(CUDNN_VERSION), CUDNN_MAJOR, CUDNN_MINOR, CUDNN_MAJOR, version_text(version)));
  }
}

std::string cudnn_version() { return fmt::format("cuDNN {}", version_text(cudnnGetVersion())); }

void check_cudnn_version() { check_cudnn_version(cudnnGetVersion()); }

std::unique_ptr<Convolutions> make_cudnn_convolutions(const DeviceProperties& device, bool tf32) {
  check_cudnn_version();
  return std::make_unique<CudnnConvolutions>(device, tf32);
}

}  // namespace bench::cuda
