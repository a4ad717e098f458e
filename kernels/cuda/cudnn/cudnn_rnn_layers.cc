#include "kernels/cuda/cudnn/cudnn_rnn_layers.h"

#include <utility>

#include "kernels/cuda/cudnn/handle.h"
#include "kernels/cuda/cudnn/rnn_description.h"
#include "kernels/cuda/device/current_device.h"
#include "models/base/errors.h"

namespace bench::cuda {
namespace {

class CudnnRnnPlan final : public RnnPlan {
 public:
  CudnnRnnPlan(std::shared_ptr<Handle> handle, const RnnProblem& problem, bool tf32,
               RnnSpaces spaces)
      : handle_(std::move(handle)),
        layer_(problem, tf32),
        spaces_(std::move(spaces)),
        cell_state_(problem.cell == RnnCell::lstm ? layer_.state() : nullptr) {}

  void forward(cudaStream_t stream, const RnnMemory& memory) override {
    check_cudnn(cudnnRNNForward(handle_->on(stream), layer_.layer(), layer_.mode(),
                                /*devSeqLengths=*/nullptr, layer_.x(), memory.x, layer_.y(),
                                memory.y, layer_.state(),
                                /*hx=*/nullptr, /*hy=*/nullptr, cell_state_, /*cx=*/nullptr,
                                /*cy=*/nullptr, spaces_.weights, memory.weights, spaces_.workspace,
                                memory.workspace, spaces_.reserve, memory.reserve),
                "cudnnRNNForward");
  }

  void backward(cudaStream_t stream, const RnnGradientMemory& memory) override {
    const cudnnHandle_t handle = handle_->on(stream);
    check_cudnn(
        cudnnRNNBackwardData_v8(handle, layer_.layer(), /*devSeqLengths=*/nullptr, layer_.y(),
                                memory.y, memory.dy, layer_.x(), memory.dx, layer_.state(),
                                /*hx=*/nullptr, /*dhy=*/nullptr, /*dhx=*/nullptr, cell_state_,
                                /*cx=*/nullptr, /*dcy=*/nullptr, /*dcx=*/nullptr, spaces_.weights,
                                memory.weights, spaces_.workspace, memory.workspace,
                                spaces_.reserve, memory.reserve),
        "cudnnRNNBackwardData_v8");
    check_cudnn(cudnnRNNBackwardWeights_v8(handle, layer_.layer(), CUDNN_WGRAD_MODE_ADD,
                                           /*devSeqLengths=*/nullptr, layer_.x(), memory.x,
                                           layer_.state(), /*hx=*/nullptr, layer_.y(), memory.y,
                                           spaces_.weights, memory.dweights, spaces_.workspace,
                                           memory.workspace, spaces_.reserve, memory.reserve),
                "cudnnRNNBackwardWeights_v8");
  }

 private:
  std::shared_ptr<Handle> handle_;
  RnnDescription layer_;
  RnnSpaces spaces_;
  /// Null unless the cell has a state c.
  cudnnTensorDescriptor_t cell_state_;
};

class CudnnRnnLayers final : public RnnLayers {
 public:
  CudnnRnnLayers(const DeviceProperties& device, bool tf32)
      : pci_bus_id_(device.pci_bus_id), tf32_(tf32) {}

  RnnMethod method(const RnnProblem& problem) override {
    check(!pci_bus_id_.empty(), "cudnn: a recurrent layer needs a present GPU");
    const CurrentDevice current(pci_bus_id_);
    const RnnSpaces spaces = RnnDescription(problem, tf32_).spaces(handle_->get());
    return {.implementation = "cudnn:standard",
            .spaces = spaces,
            .make = [handle = handle_, problem, tf32 = tf32_, spaces] {
              return std::make_unique<CudnnRnnPlan>(handle, problem, tf32, spaces);
            }};
  }

 private:
  std::string pci_bus_id_;
  bool tf32_;
  /// Outlives the plans.
  std::shared_ptr<Handle> handle_ = std::make_shared<Handle>();
};

}  // namespace

std::unique_ptr<RnnLayers> make_cudnn_rnn_layers(const DeviceProperties& device, bool tf32) {
  return std::make_unique<CudnnRnnLayers>(device, tf32);
}

}  // namespace bench::cuda
