#include "kernels/onednn/sliced_product.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "kernels/cpu/elementwise.h"
#include "kernels/onednn/primitive_kernel.h"
#include "kernels/runtime/memory_plan.h"

namespace bench::onednn {
namespace {

using Desc = dnnl::memory::desc;
using From = Argument::From;
using Product = dnnl::inner_product_backward_data::primitive_desc;
using dnnl::prop_kind;

constexpr std::int64_t kSlice = 512;
// The largest block of outputs in oneDNN's layouts of weights. A part that is not a multiple of it
// can only be split off if it is smaller than one block.
constexpr std::int64_t kBlock = 64;

struct Slice {
  std::int64_t begin = 0;
  std::int64_t count = 0;
  std::size_t weights_offset = 0;  // in bytes
  Product product;
};

/// The product over outputs [begin, begin + count); empty if the layout does not allow it.
std::optional<Slice> make_slice(Context& context, const Desc& dx, const Desc& weights,
                                std::int64_t begin, std::int64_t count) {
  const dnnl::memory::dims shape{count, weights.get_dims()[1]};
  const Desc part = weights.submemory_desc(shape, {begin, 0}, /*allow_empty=*/true);
  // The same at the beginning: oneDNN's products ignore an offset in a descriptor.
  const Desc first = weights.submemory_desc(shape, {0, 0}, /*allow_empty=*/true);
  if (!part || !first) {
    return std::nullopt;
  }
  const Desc dy({dx.get_dims()[0], count}, dx.get_data_type(), dnnl::memory::format_tag::ab);
  const dnnl::inner_product_forward::primitive_desc hint(
      context.engine, prop_kind::forward_training, dx, first, dy, base_attributes(),
      /*allow_empty=*/true);
  if (!hint) {
    return std::nullopt;
  }
  Product product(context.engine, dx, first, dy, hint, base_attributes(), /*allow_empty=*/true);
  if (!product) {
    return std::nullopt;
  }
  const auto offset = static_cast<std::size_t>(part.get_submemory_offset()) * sizeof(float);
  return Slice{.begin = begin, .count = count, .weights_offset = offset, .product = product};
}

/// Offsets into the workspace, which begins with a slice of dy.
struct Workspace {
  std::size_t part = 0, scratchpad = 0, bytes = 0;
};

Workspace plan(std::int64_t rows, std::size_t dx_bytes, const std::vector<Slice>& slices) {
  Workspace plan;
  plan.part = align_up(static_cast<std::size_t>(rows * kSlice) * sizeof(float));
  plan.scratchpad = plan.part + align_up(dx_bytes);
  for (const Slice& slice : slices) {
    plan.bytes = std::max(plan.bytes, slice.product.scratchpad_desc().get_size());
  }
  plan.bytes += plan.scratchpad;
  return plan;
}

class SlicedKernel final : public Kernel {
 public:
  SlicedKernel(const dnnl::engine& engine, cpu::ThreadTeam& team, std::vector<Slice> slices,
               const Workspace& workspace)
      : team_(team), workspace_(workspace), slices_(std::move(slices)) {
    const Desc dy = slices_.front().product.diff_dst_desc();
    rows_ = dy.get_dims()[0];
    outputs_ = slices_.back().begin + slices_.back().count;
    for (const Slice& slice : slices_) {
      const Product& product = slice.product;
      products_.push_back(
          make_primitive(engine, product,
                         {{DNNL_ARG_DIFF_DST, product.diff_dst_desc(), From::input, 0},
                          {DNNL_ARG_WEIGHTS, product.weights_desc(), From::input, 1},
                          {DNNL_ARG_DIFF_SRC, product.diff_src_desc(), From::output, 0}})());
    }
  }

  void launch(Stream& stream, std::span<const TensorView> inputs,
              std::span<const TensorView> outputs, void* workspace) override {
    auto* const memory = static_cast<std::byte*>(workspace);
    auto* const dy = reinterpret_cast<float*>(memory);
    auto* const part = reinterpret_cast<float*>(memory + workspace_.part);
    auto* const dx = outputs[0].as<float>();
    for (std::size_t i = 0; i < slices_.size(); ++i) {
      const Slice& slice = slices_[i];
      copy_columns(inputs[0].as<const float>(), slice, dy);
      const std::array<TensorView, 2> from{
          TensorView{.data = dy, .bytes = bytes_of(rows_ * slice.count)},
          TensorView{.data = inputs[1].as<std::byte>() + slice.weights_offset,
                     .bytes = inputs[1].bytes - slice.weights_offset}};
      const TensorView to{.data = i == 0 ? dx : part, .bytes = outputs[0].bytes};
      products_[i]->launch(stream, from, {&to, 1}, memory + workspace_.scratchpad);
      if (i > 0) {
        cpu::add(team_, {.count = static_cast<std::int64_t>(outputs[0].bytes / sizeof(float)),
                         .a = dx,
                         .b = part,
                         .y = dx});
      }
    }
  }

 private:
  using Range = cpu::Range;
  static std::size_t bytes_of(std::int64_t count) {
    return static_cast<std::size_t>(count) * sizeof(float);
  }
  void copy_columns(const float* from, const Slice& slice, float* to) {
    team_.for_ranges(rows_, 1, [&](Range range) {
      for (std::int64_t row = range.begin; row < range.end; ++row) {
        std::memcpy(to + row * slice.count, from + row * outputs_ + slice.begin,
                    bytes_of(slice.count));
      }
    });
  }

  cpu::ThreadTeam& team_;
  Workspace workspace_;
  std::vector<Slice> slices_;
  std::vector<std::unique_ptr<Kernel>> products_;
  std::int64_t rows_ = 0;
  std::int64_t outputs_ = 0;
};

}  // namespace

std::optional<SlicedProduct> sliced_data_gradient(Context& context, const Desc& dx,
                                                  const Desc& weights, const Desc& dy) {
  const std::int64_t outputs = weights.get_dims()[0];
  if (outputs <= kSlice || dy.get_data_type() != dnnl::memory::data_type::f32) {
    return std::nullopt;
  }
  std::vector<Slice> slices;
  for (std::int64_t begin = 0; begin < outputs;) {
    const std::int64_t left = std::min(kSlice, outputs - begin);
    const std::int64_t count = left < kBlock ? left : left / kBlock * kBlock;
    auto slice = make_slice(context, dx, weights, begin, count);
    if (!slice) {
      return std::nullopt;
    }
    slices.push_back(std::move(*slice));
    begin += count;
  }
  const Workspace workspace = plan(dy.get_dims()[0], dx.get_size(), slices);
  return SlicedProduct{.workspace_bytes = workspace.bytes,
                       .make = [engine = context.engine, &team = context.team,
                                slices = std::move(slices), workspace] {
                         return std::make_unique<SlicedKernel>(engine, team, slices, workspace);
                       }};
}

}  // namespace bench::onednn
