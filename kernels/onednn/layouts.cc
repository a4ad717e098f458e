#include "kernels/onednn/layouts.h"

#include <fmt/ostream.h>
#include <algorithm>
#include <numeric>

#include "models/base/errors.h"

namespace bench::onednn {
namespace {

using Tag = dnnl::memory::format_tag;

/// Outer axes from the slowest to the fastest, blocked ones in capitals, then the inner blocks:
/// "ABcd16b16a".
std::string describe(const dnnl::memory::desc& desc) {
  const auto strides = desc.get_strides();
  const auto blocks = desc.get_inner_blks();
  const auto axes = desc.get_inner_idxs();
  std::vector<std::size_t> order(strides.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return strides[a] > strides[b]; });
  std::string text;
  for (const std::size_t axis : order) {
    const bool inner =
        std::find(axes.begin(), axes.end(), static_cast<dnnl::memory::dim>(axis)) != axes.end();
    text += static_cast<char>((inner ? 'A' : 'a') + static_cast<char>(axis));
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    text += fmt::format("{}{}", blocks[i], static_cast<char>('a' + axes[i]));
  }
  return text;
}

const std::map<std::string, Tag>& named_tags() {
  static const std::map<std::string, Tag> kTags{
      {"x", Tag::a},       {"nc", Tag::ab},           {"ncw", Tag::abc},      {"nchw", Tag::abcd},
      {"nhwc", Tag::acdb}, {"nChw16c", Tag::aBcd16b}, {"nChw8c", Tag::aBcd8b}};
  return kTags;
}

}  // namespace

dnnl::memory::data_type data_type(DType dtype) {
  using Type = dnnl::memory::data_type;
  switch (dtype) {
    case DType::f32:
      return Type::f32;
    case DType::bf16:
      return Type::bf16;
    case DType::f16:
      return Type::f16;
    case DType::s32:
      return Type::s32;
    case DType::u8:
      return Type::u8;
    case DType::s8:
      return Type::s8;
    case DType::f64:
      break;
  }
  throw UsageError(fmt::format("onednn: unsupported element type {}", name_of(dtype)));
}

dnnl::memory::dims dims(const Shape& shape) {
  return {shape.extents().begin(), shape.extents().end()};
}

LayoutTable::Key LayoutTable::key(const std::string& token, const TensorType& type) {
  return {token, to_string(type.shape), type.dtype};
}

cpu::WinogradFilterShape winograd_filter_shape(int block, const TensorType& filters) {
  return {.dtype = filters.dtype,
          .block = block,
          .in_blocks = filters.shape[1] / block,
          .out_blocks = filters.shape[0] / block};
}

Layout LayoutTable::blocked(int block) { return Layout(fmt::format("nChw{}c", block)); }

dnnl::memory::desc LayoutTable::desc(const TensorType& type, const Layout& layout) const {
  if (layout.token() == "scalar") {
    return {{1}, data_type(type.dtype), Tag::a};
  }
  if (const auto named = named_tags().find(layout.token()); named != named_tags().end()) {
    return {dims(type.shape), data_type(type.dtype), named->second};
  }
  if (layout == winograd_filters(16)) {
    return {dims(type.shape), data_type(type.dtype), Tag::OIhw16i16o};
  }
  if (layout == winograd_filters(8)) {
    return {dims(type.shape), data_type(type.dtype), Tag::OIhw8i8o};
  }
  const auto found = remembered_.find(key(layout.token(), type));
  check(found != remembered_.end(),
        fmt::format("onednn: unknown layout {} for {}", layout.token(), fmt::streamed(type)));
  return found->second;
}

std::size_t LayoutTable::bytes(const TensorType& type, const Layout& layout) const {
  const std::size_t plain = desc(type, layout).get_size();
  for (const int block : {8, 16}) {
    if (layout == winograd_filters(block)) {
      return plain + sizeof(float) * static_cast<std::size_t>(cpu::winograd_filter_floats(
                                         winograd_filter_shape(block, type)));
    }
  }
  return plain;
}

Layout LayoutTable::remember(const TensorType& type, const dnnl::memory::desc& desc) {
  for (const auto& [name, tag] : named_tags()) {
    const auto extents = dims(type.shape);
    const auto rank = extents.size();
    const bool fits = name == "x"     ? rank == 1
                      : name == "nc"  ? rank == 2
                      : name == "ncw" ? rank == 3
                                      : rank == 4;
    if (fits && dnnl::memory::desc(extents, data_type(type.dtype), tag) == desc) {
      return Layout(name);
    }
  }
  // Filters of grouped convolutions have one axis more than the logical tensor.
  const std::string prefix = desc.get_ndims() == 5 ? "g" : "w";
  const std::string token = fmt::format("{}:{}", prefix, describe(desc));
  for (int version = 0;; ++version) {
    const std::string name = version == 0 ? token : fmt::format("{}#{}", token, version);
    const auto [entry, fresh] = remembered_.try_emplace(key(name, type), desc);
    if (fresh || entry->second == desc) {
      return Layout(name);
    }
  }
}

}  // namespace bench::onednn
