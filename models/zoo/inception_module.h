#pragma once

#include <functional>
#include <vector>

#include "models/zoo/builder.h"

namespace bench {

/// One layer of an inception module's column. `share` refers to the layer at the same position in
/// the column to the left.
struct ModuleLayer {
  enum class Kind : std::uint8_t { conv, max_pool, avg_pool, share } kind = Kind::share;
  std::int64_t channels = 0;
  WindowSpec window = {};
};

inline ModuleLayer column_conv(std::int64_t channels, Extent2 kernel, std::int64_t stride = 1,
                               Padding padding = Padding::same) {
  return {.kind = ModuleLayer::Kind::conv,
          .channels = channels,
          .window = {.kernel = kernel, .stride = stride, .padding = padding}};
}
inline ModuleLayer column_max_pool(const WindowSpec& window) {
  return {.kind = ModuleLayer::Kind::max_pool, .window = window};
}
inline ModuleLayer column_avg_pool(const WindowSpec& window) {
  return {.kind = ModuleLayer::Kind::avg_pool, .window = window};
}
inline ModuleLayer shared_layer() { return {}; }

using ModuleColumn = std::vector<ModuleLayer>;
/// A convolution with the ops that follow it in a network: bias or batch norm, and activation.
using ModuleConv = std::function<ValueId(ValueId x, const ConvSpec& spec)>;

/// Columns that each start at x; their results are concatenated over the channels. Szegedy et al.,
/// arXiv:1409.4842. Layers are created column by column.
ValueId inception_module(NetworkBuilder& net, ValueId x, const std::vector<ModuleColumn>& columns,
                         const ModuleConv& conv);

}  // namespace bench
