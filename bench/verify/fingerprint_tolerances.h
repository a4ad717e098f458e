#pragma once

#include <optional>

#include "models/base/dtype.h"
#include "models/zoo/fingerprint.h"

namespace bench {

/// The allowed distance of a fingerprint part from the stored one. `size` limits the logarithm of
/// the sizes' ratio, `direction` the difference of the directions.
struct FingerprintTolerance {
  double size = 0;
  double direction = 0;
};

/// The tolerance for a network that computes in `dtype` (f32, f64, bf16 or f16). VERIFY.md has
/// the measurements.
FingerprintTolerance fingerprint_tolerance(FingerprintKind kind, DType dtype);

/// The allowed difference between an update of `towers` towers and the reference's, as a fraction
/// of the summed terms. The towers add gradients in the optimizer's type or in `narrow`.
double update_tolerance(std::optional<DType> narrow, int towers);

/// The largest relative deviation of the L2 term.
double l2_tolerance();

/// The largest difference of a normalized pixel, which is at most 1: an epsilon of f32, because its
/// quotient is rounded once.
double pixel_tolerance();

}  // namespace bench
