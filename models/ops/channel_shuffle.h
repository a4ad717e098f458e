#pragma once

#include <iosfwd>

#include "models/ir/op.h"

namespace bench {

struct ChannelShuffleAttributes {
  std::int64_t groups = 1;
  bool operator==(const ChannelShuffleAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const ChannelShuffleAttributes& attributes);

/// (x[N,C,H,W]) -> y of that shape with the channels, seen as a matrix groups x C/groups,
/// transposed: y's channel i*groups + g is x's channel g*(C/groups) + i. Zhang et al.,
/// arXiv:1707.01083.
extern const OpDef kChannelShuffle;

}  // namespace bench
