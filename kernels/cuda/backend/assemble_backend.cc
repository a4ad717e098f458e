#include <fmt/ostream.h>
#include <map>

#include "kernels/cuda/backend/backend_parts.h"
#include "kernels/cuda/backend/support.h"
#include "kernels/cuda/device/ceiling.h"
#include "kernels/cuda/device/context.h"
#include "kernels/cuda/device/memory.h"
#include "kernels/cuda/device/stream.h"
#include "kernels/cuda/ops/gpu_normalization.h"
#include "kernels/cuda/ops/gpu_optimizer.h"
#include "kernels/cuda/ops/gpu_reorder.h"
#include "kernels/cuda/ops/makers.h"
#include "models/base/errors.h"
#include "models/ops/ops.h"

namespace bench::cuda {
namespace {

Maker* maker_of(const OpDef* op) {
  static const std::map<const OpDef*, Maker*> kMakers{
#define BENCH_OP(object, name) {&object, name},
#include "models/ops/ops.inc"
  };
  const auto found = kMakers.find(op);
  return found == kMakers.end() ? nullptr : found->second;
}

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(BackendParts parts)
      : convolutions_(std::move(parts.convolutions)),
        products_(std::move(parts.products)),
        rnn_layers_(std::move(parts.rnn_layers)),
        context_{.device = std::move(parts.device),
                 .convolutions = *convolutions_,
                 .products = *products_,
                 .rnn_layers = *rnn_layers_},
        index_(parts.index) {
    if (index_ >= 0) {
      check_cuda(cudaSetDevice(index_), "cudaSetDevice");
    }
  }

  [[nodiscard]] std::string_view name() const override { return "cuda"; }

  [[nodiscard]] Support supports(const Graph& graph, const Node& node) const override {
    const std::string why = maker_of(node.op) == nullptr
                                ? fmt::format("cuda has no {}", node.op->name)
                                : why_not(context_, graph, node);
    return {.yes = why.empty(), .why_not = why};
  }

  std::vector<Candidate> candidates(const Graph& graph, const Node& node,
                                    DataFormat format) override {
    if (const Support support = supports(graph, node); !support) {
      throw UsageError(support.why_not);
    }
    auto result = maker_of(node.op)(context_, graph, node, format);
    if (result.empty()) {
      throw UsageError(fmt::format("cuda cannot run {} {} {{{}}} in --data_format={}",
                                   node.op->name, node.name, fmt::streamed(node.attributes),
                                   name_of(format)));
    }
    return result;
  }

  [[nodiscard]] Layout canonical_layout(const TensorType& type) const override {
    return row_major(type.shape.rank());
  }

  [[nodiscard]] std::vector<Layout> input_layouts(const TensorType& type,
                                                  DataFormat format) const override {
    return plain_layouts(type.shape, format);
  }

  [[nodiscard]] std::size_t bytes(const TensorType& type, const Layout& /*layout*/) override {
    return static_cast<std::size_t>(type.shape.elements()) * size_of(type.dtype);
  }

  std::unique_ptr<Kernel> make_reorder(const Placed& from, const Placed& to) override {
    return make_gpu_reorder(from, to);
  }

  std::unique_ptr<Kernel> make_normalization(const Normalization& range,
                                             const Placed& images) override {
    return make_gpu_normalization(range, images);
  }

  [[nodiscard]] double reorder_seconds(const TensorType& type, const Layout& /*from*/,
                                       const Layout& /*to*/) override {
    // A reorder goes through tiles in shared memory, at about two thirds of the bandwidth.
    constexpr double kSlower = 1.5;
    return memory_seconds(context_, kSlower * 2 * static_cast<double>(type.shape.elements()) *
                                        static_cast<double>(size_of(type.dtype)));
  }

  std::unique_ptr<Optimizer> make_optimizer(const OptimizerSettings& settings,
                                            std::vector<OptimizerSegment> segments) override {
    check_present("an optimizer");
    return cuda::make_optimizer(settings, std::move(segments));
  }
  std::unique_ptr<Stream> make_stream() override {
    check_present("a stream");
    return std::make_unique<GpuStream>();
  }
  std::unique_ptr<Stream> make_urgent_stream() override {
    check_present("a stream");
    return std::make_unique<GpuStream>(StreamRank::urgent);
  }
  std::unique_ptr<Event> make_event() override {
    check_present("an event");
    return make_gpu_event();
  }
  std::optional<Ceiling> measure_ceiling(DType dtype) override {
    check_present("a ceiling");
    return cuda::measure_ceiling(context_, dtype);
  }
  std::optional<double> measure_product(DType dtype) override {
    check_present("a ceiling");
    return cuda::measure_product(context_, dtype);
  }
  std::optional<double> measure_clock() override {
    check_present("a clock");
    return cuda::measure_clock();
  }
  std::unique_ptr<DeviceMemory> allocate(std::size_t bytes) override {
    check_present("memory");
    return allocate_gpu_memory(bytes);
  }
  std::unique_ptr<DeviceMemory> allocate_staging(std::size_t bytes) override {
    check_present("memory");
    return allocate_pinned_memory(bytes);
  }
  [[nodiscard]] bool shares_host_memory() const override { return false; }

  [[nodiscard]] bool reaches(const void* memory) override {
    return index_ >= 0 && reaches_memory(index_, memory);
  }

  [[nodiscard]] bool narrow_filter_gradients() const override { return true; }

  [[nodiscard]] MemoryTraits memory_traits() const override {
    return {.alignment = kAlignment,
            .free_bytes = index_ >= 0 ? free_gpu_memory(index_)
                                      : static_cast<std::size_t>(context_.device.memory_bytes),
            .cache_bytes = static_cast<std::size_t>(context_.device.l2_bytes)};
  }

 private:
  /// cudaMalloc's alignment; cuDNN and packs of 16 bytes need less.
  static constexpr std::size_t kAlignment = 256;

  void check_present(std::string_view what) const {
    if (index_ < 0) {
      throw UsageError(fmt::format("this run only plans for {}, so it cannot provide {}",
                                   context_.device.name, what));
    }
  }

  std::unique_ptr<Convolutions> convolutions_;
  std::unique_ptr<Products> products_;
  std::unique_ptr<RnnLayers> rnn_layers_;
  Context context_;
  int index_;
};

}  // namespace

std::unique_ptr<Backend> assemble_backend(BackendParts parts) {
  return std::make_unique<CudaBackend>(std::move(parts));
}

}  // namespace bench::cuda
