#pragma once

#include <fmt/format.h>
#include <map>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <tuple>

#include "kernels/backend.h"
#include "kernels/cpu/winograd.h"

namespace bench::onednn {

dnnl::memory::data_type data_type(DType dtype);
dnnl::memory::dims dims(const Shape& shape);

/// Tokens for oneDNN's memory descriptors. Plain and channel-blocked layouts of activations have
/// their usual names. Layouts that a primitive chose are stored per type.
class LayoutTable {
 public:
  /// The descriptor of a tensor in a layout; throws InternalError for an unknown token. For
  /// winograd_filters(), that of the filters before their transforms.
  [[nodiscard]] dnnl::memory::desc desc(const TensorType& type, const Layout& layout) const;
  [[nodiscard]] std::size_t bytes(const TensorType& type, const Layout& layout) const;
  /// The token of a descriptor chosen by a primitive for a tensor of that type.
  Layout remember(const TensorType& type, const dnnl::memory::desc& desc);

  static Layout blocked(int block);
  /// Constant filters of a 3x3 convolution, in f32 or bf16, in blocks of 16 or 8 channels
  /// (OIhw16i16o), followed by their f32 transforms (kernels/cpu/winograd.h).
  static Layout winograd_filters(int block) {
    return Layout(fmt::format("w:ABcd{0}b{0}a+winograd_4x4", block));
  }

 private:
  using Key = std::tuple<std::string, std::string, DType>;
  static Key key(const std::string& token, const TensorType& type);
  std::map<Key, dnnl::memory::desc> remembered_;
};

/// The blocks of a 3x3 convolution's filters, which both channel counts fill.
cpu::WinogradFilterShape winograd_filter_shape(int block, const TensorType& filters);

}  // namespace bench::onednn
