#pragma once

#include <iosfwd>

#include "models/ir/op.h"

namespace bench {

/// (x[N,C,H,W]) -> y[N,C], the mean over H and W.
extern const OpDef kSpatialMean;

/// The shape an op's backward restores.
struct RestoreShapeAttributes {
  Shape input;
  bool operator==(const RestoreShapeAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const RestoreShapeAttributes& attributes);

/// (dy[N,C]) -> dx of shape `input`: dy / (H*W) everywhere.
extern const OpDef kSpatialMeanBackward;

}  // namespace bench
