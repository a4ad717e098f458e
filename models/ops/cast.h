#pragma once

#include <iosfwd>

#include "models/base/dtype.h"
#include "models/ir/op.h"

namespace bench {

struct CastAttributes {
  DType to = DType::f32;
  bool operator==(const CastAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const CastAttributes& attributes);

/// (x) -> x as another floating type, to nearest. The gradient comes back in x's type, and as it is
/// where it has that type already: filters' gradients are f32, whatever the filters are.
extern const OpDef kCast;

}  // namespace bench
