#include "kernels/onednn/onednn_backend.h"

#include <fmt/ostream.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>

#include "kernels/cpu/loss.h"
#include "kernels/cpu/optimizer.h"
#include "kernels/cpu/thread_team.h"
#include "kernels/cpu/topology.h"
#include "kernels/onednn/context.h"
#include "kernels/onednn/epilogue.h"
#include "kernels/onednn/isa.h"
#include "kernels/onednn/makers.h"
#include "kernels/onednn/primitive_kernel.h"
#include "kernels/onednn/quantized.h"
#include "kernels/onednn/rnn.h"
#include "kernels/onednn/tile_order.h"
#include "kernels/onednn/vector_kernel.h"
#include "kernels/onednn/widened.h"
#include "kernels/onednn/winograd.h"
#include "kernels/runtime/host_memory.h"
#include "kernels/runtime/host_stream.h"
#include "models/base/errors.h"
#include "models/ops/ops.h"
#include "models/ops/rnn.h"

namespace bench {
namespace onednn {
namespace {

/// Null if the node's op has no maker for the types that the node reads.
Maker* maker_of(const Graph& graph, const Node& node) {
  if (runs_on_quanta(graph, node) && node.op->quanta == Quanta::refused) {
    return nullptr;
  }
  static const std::map<const OpDef*, Maker*> kMakers{
#define BENCH_OP(object, name) {&object, name},
#include "models/ops/ops.inc"
  };
  const auto found = kMakers.find(node.op);
  return found == kMakers.end() ? nullptr : found->second;
}

class VectorOptimizer final : public Optimizer {
 public:
  VectorOptimizer(cpu::ThreadTeam& team, const OptimizerSettings& settings,
                  std::vector<OptimizerSegment> segments)
      : team_(team),
        loss_scale_(settings.loss_scale),
        kernel_(settings, std::move(segments)),
        gradients_(kernel_.segments().size()) {
    check(settings.dtype == DType::f32, "onednn: the optimizer updates only f32");
  }
  void reset(Stream& /*stream*/, std::span<void* const> slots, StepState* state) override {
    state->updates = 0;
    kernel_.reset(team_, slots);
  }
  void launch(Stream& /*stream*/, const OptimizerMemory& memory, StepState* state) override {
    if (state->finite != 0) {
      kernel_.update(team_, memory, scalars_of(*state));
    }
    finish_step(*state, loss_scale_);
  }
  void judge(Stream& /*stream*/, const void* gradients, StepState* state) override {
    const std::span<const OptimizerSegment> segments = kernel_.segments();
    for (std::size_t i = 0; i < segments.size(); ++i) {
      gradients_[i] = {static_cast<const float*>(gradients) + segments[i].offset,
                       segments[i].count};
    }
    state->finite = std::isfinite(cpu::sum_of_squares(team_, gradients_)) ? 1 : 0;
  }

 private:
  cpu::ThreadTeam& team_;
  LossScaleRule loss_scale_;
  cpu::OptimizerKernel kernel_;
  /// The segments' gradients in judge(); a member, because a step must not allocate.
  std::vector<std::span<const float>> gradients_;
};

class OnednnBackend final : public Backend {
 public:
  explicit OnednnBackend(const OnednnOptions& options)
      : team_(options.processors, options.pin),
        context_{.engine = {dnnl::engine::kind::cpu, 0}, .layouts = {}, .team = team_} {
    // The library's cache treats nchw and nhwc as equal if there is one channel or one pixel. It
    // can then return a primitive that was created for other filters.
    dnnl::set_primitive_cache_capacity(0);
    context_.block = has_isa(dnnl::cpu_isa::avx512_core) ? 16 : 8;
    context_.winograd = options.winograd;
  }

  [[nodiscard]] std::string_view name() const override { return "onednn"; }

  [[nodiscard]] Support supports(const Graph& graph, const Node& node) const override {
    const auto no = [&](const std::string& why) { return Support{.yes = false, .why_not = why}; };
    if (maker_of(graph, node) == nullptr) {
      return no(runs_on_quanta(graph, node)
                    ? fmt::format("onednn has no {} for quantized values", node.op->name)
                    : fmt::format("onednn has no {}", node.op->name));
    }
    if (runs_on_quanta(graph, node)) {
      return supports_quantized(context_, graph, node);
    }
    for (const ValueId input : node.inputs) {
      const TensorType& type = graph.type(input);
      if (const std::string why = type.opaque ? "" : why_not(type.dtype); !why.empty()) {
        return no(why);
      }
    }
    if (node.op == &kRnn || node.op == &kRnnBackward) {
      return supports_rnn(graph, node);
    }
    return supports_epilogue(node);
  }

  std::vector<Candidate> candidates(const Graph& graph, const Node& node,
                                    DataFormat format) override {
    if (const Support support = supports(graph, node); !support) {
      throw UsageError(support.why_not);
    }
    check_extents(graph, node);
    Maker* const maker = maker_of(graph, node);
    auto result = maker(context_, graph, node, format);
    if (has_only_reference_code(graph, node, result)) {
      std::ranges::move(widened_candidates(context_, *this, maker, graph, node, format),
                        std::back_inserter(result));
    }
    if (result.empty()) {
      throw UsageError(fmt::format("onednn cannot run {} {} {{{}}} in --data_format={}",
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

  [[nodiscard]] std::size_t bytes(const TensorType& type, const Layout& layout) override {
    return context_.layouts.bytes(type, layout);
  }

  [[nodiscard]] std::optional<TileOrder> order_of_copy(const Placed& variable,
                                                       const Placed& copy) override {
    const auto [from, to] = descriptors(variable, copy);
    return tile_order(from, to);
  }

  std::unique_ptr<Kernel> make_reorder(const Placed& from, const Placed& to) override {
    const std::size_t size = bytes(from.type, from.layout);
    if (from == to) {
      return make_vector_kernel(context_, [size](const Launch& launch) {
        std::memcpy(launch.outputs[0].data, launch.inputs[0].data, size);
      })();
    }
    const auto [source, target] = descriptors(from, to);
    const auto desc = or_device_error([&, source = source, target = target] {
      return dnnl::reorder::primitive_desc(context_.engine, source, context_.engine, target);
    });
    auto reorder = make_primitive(context_.engine, desc,
                                  {{DNNL_ARG_FROM, source, Argument::From::input, 0},
                                   {DNNL_ARG_TO, target, Argument::From::output, 0}})();
    return to.layout == LayoutTable::winograd_filters(context_.block)
               ? with_winograd_transforms(context_, std::move(reorder), to.type)
               : std::move(reorder);
  }

  [[nodiscard]] double reorder_seconds(const TensorType& type, const Layout& /*from*/,
                                       const Layout& /*to*/) override {
    // A reorder uses strides to read or to write: it reaches about half of the bandwidth.
    const std::int64_t bytes =
        type.shape.elements() * static_cast<std::int64_t>(size_of(type.dtype));
    return memory_seconds(context_, 4 * bytes);
  }

  [[nodiscard]] bool supports_sparse_gradients() const override { return true; }
  std::unique_ptr<Optimizer> make_optimizer(const OptimizerSettings& settings,
                                            std::vector<OptimizerSegment> segments) override {
    return std::make_unique<VectorOptimizer>(team_, settings, std::move(segments));
  }

  std::optional<Ceiling> measure_ceiling(DType dtype) override {
    return or_device_error([&] { return onednn::measure_ceiling(context_, dtype); });
  }
  std::optional<double> sample_flops(DType dtype) override {
    return onednn::sample_flops(context_, dtype);
  }
  std::optional<double> measure_product(DType dtype) override {
    return or_device_error([&] { return product_flops(context_, dtype); });
  }

  std::unique_ptr<Stream> make_stream() override {
    return std::make_unique<OnednnStream>(context_.engine);
  }
  std::unique_ptr<Event> make_event() override { return make_host_event(); }

  std::unique_ptr<DeviceMemory> allocate(std::size_t bytes) override {
    return allocate_host_memory(bytes);
  }
  [[nodiscard]] bool shares_host_memory() const override { return true; }

  [[nodiscard]] MemoryTraits memory_traits() const override {
    if (!cache_bytes_) {
      cache_bytes_ = 0;
      for (const CacheLevel& level : discover_caches(team_.processors())) {
        *cache_bytes_ += level.level > 1 ? level.share : 0;
      }
    }
    return {.cache_bytes = *cache_bytes_};
  }

  [[nodiscard]] HostThreads host_threads() override {
    return {.count = team_.size(), .run = [this](const std::function<void(int)>& part) {
              team_.parallel([&](int thread) { part(thread); });
            }};
  }

 private:
  /// Unset until the first call of memory_traits(), which takes milliseconds.
  mutable std::optional<std::size_t> cache_bytes_;

  /// True for f16 convolutions for which oneDNN has no other kernels. Without AMX, oneDNN 3.2 has
  /// only reference code for the gradients of all filters, and for all convolutions in NCHW.
  static bool has_only_reference_code(const Graph& graph, const Node& node,
                                      std::span<const Candidate> candidates) {
    const bool of_convolution = node.op == &kConv2d || node.op == &kConv2dBackwardData ||
                                node.op == &kConv2dBackwardWeights;
    return of_convolution && graph.type(node.inputs[0]).dtype == DType::f16 &&
           std::ranges::all_of(candidates, [](const Candidate& candidate) {
             return is_reference(candidate.implementation);
           });
  }

  /// Throws UsageError for an image that is too large. oneDNN counts its elements in 32 bits: at
  /// 2^32 elements, 3.2 divides by zero while it plans a convolution.
  static void check_extents(const Graph& graph, const Node& node) {
    constexpr std::int64_t kMostElements = std::numeric_limits<std::int32_t>::max();
    for (const auto& values : {node.inputs, node.outputs}) {
      for (const ValueId value : values) {
        const Shape& shape = graph.shape(value);
        if (shape.rank() == 4 && shape[1] * shape[2] * shape[3] > kMostElements) {
          throw UsageError(
              fmt::format("onednn takes images of at most {} elements, but {} has {} x {} x {}; "
                          "use a smaller --image_size",
                          kMostElements, node.name, shape[1], shape[2], shape[3]));
        }
      }
    }
  }

  /// Why this processor does not support such elements; empty if it does.
  [[nodiscard]] std::string why_not(DType dtype) const {
    const auto needs = [&](dnnl::cpu_isa isa, std::string_view name) {
      return has_isa(isa)
                 ? std::string()
                 : fmt::format("onednn needs {} to compute in {}, but this processor has {}", name,
                               name_of(dtype), isa_name());
    };
    switch (dtype) {
      case DType::f32:
      case DType::s32:
        return "";
      case DType::bf16:
        return needs(dnnl::cpu_isa::avx512_core, "avx512_core");
      case DType::f16:
        return needs(dnnl::cpu_isa::avx512_core_fp16, "avx512_core_fp16");
      default:
        return fmt::format("onednn computes only in f32, bf16 and f16, not in {}", name_of(dtype));
    }
  }

  /// Descriptors with the same number of axes.
  [[nodiscard]] std::pair<dnnl::memory::desc, dnnl::memory::desc> descriptors(
      const Placed& from, const Placed& to) const {
    dnnl::memory::desc source = context_.layouts.desc(from.type, from.layout);
    dnnl::memory::desc target = context_.layouts.desc(to.type, to.layout);
    with_groups(source, target);
    with_groups(target, source);
    return {source, target};
  }

  /// Describes a plain filter with the groups axis that `other` has. The groups divide the
  /// outermost axis, in NCHW as in NHWC, and the other strides stay.
  static void with_groups(dnnl::memory::desc& plain, const dnnl::memory::desc& other) {
    if (plain.get_ndims() == 4 && other.get_ndims() == 5) {
      const auto extents = other.get_dims();
      auto strides = plain.get_strides();
      strides.insert(strides.begin(), extents[1] * strides[0]);
      plain = {extents, plain.get_data_type(), strides};
    }
  }

  cpu::ThreadTeam team_;
  Context context_;
};

dnnl::cpu_isa isa_named(const std::string& name) {
  static const std::map<std::string, dnnl::cpu_isa> kIsas{
      {"SSE41", dnnl::cpu_isa::sse41},
      {"AVX", dnnl::cpu_isa::avx},
      {"AVX2", dnnl::cpu_isa::avx2},
      {"AVX2_VNNI", dnnl::cpu_isa::avx2_vnni},
      {"AVX512_CORE", dnnl::cpu_isa::avx512_core},
      {"AVX512_CORE_VNNI", dnnl::cpu_isa::avx512_core_vnni},
      {"AVX512_CORE_BF16", dnnl::cpu_isa::avx512_core_bf16},
      {"AVX512_CORE_FP16", dnnl::cpu_isa::avx512_core_fp16}};
  const auto found = kIsas.find(name);
  if (found == kIsas.end()) {
    throw UsageError(fmt::format("onednn: unknown instruction set {}", name));
  }
  return found->second;
}

}  // namespace
}  // namespace onednn

std::unique_ptr<Backend> make_onednn_backend(const OnednnOptions& options) {
  // Kernels compute in the requested type, whatever ONEDNN_DEFAULT_FPMATH_MODE says.
  dnnl::set_default_fpmath_mode(dnnl::fpmath_mode::strict);
  if (options.max_isa) {
    const dnnl::cpu_isa limit = onednn::isa_named(*options.max_isa);
    const auto status = dnnl::set_max_cpu_isa(limit);
    // The setting holds for the process; a second backend finds it set. The sets are bits.
    const auto effective = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
    check(status == dnnl::status::success || (effective & ~static_cast<unsigned>(limit)) == 0,
          "onednn: the instruction set was limited after oneDNN chose one");
  }
  return std::make_unique<onednn::OnednnBackend>(options);
}

int onednn_most_threads() { return cpu::ThreadTeam::most_threads(); }

std::string onednn_version() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

std::string onednn_isa() { return onednn::isa_name(); }

}  // namespace bench
