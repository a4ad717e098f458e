#pragma once

#include <iosfwd>

#include "models/ir/op.h"

namespace bench {

struct ChannelShuffleAttributes {
  std::int64_t groups = 1;
  bool operator==(const ChannelShuffleAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const ChannelShuffleAttributes& attributes);

/// (x[N,C,H,W]) -> y of the same shape, with the channels transposed as a groups x C/groups matrix.
/// Channel i*groups + g of y is channel g*(C/groups) + i of x. Zhang et al., arXiv:1707.01083.
extern const OpDef kChannelShuffle;

}  // namespace bench
