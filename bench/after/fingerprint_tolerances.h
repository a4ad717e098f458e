#pragma once

#include <optional>

#include "models/base/dtype.h"
#include "models/zoo/fingerprint.h"

namespace bench {

/// How far a part of a fingerprint may be from the stored one: the logarithm of the ratio of the
/// sizes, and the difference of the directions.
struct FingerprintTolerance {
  double size = 0;
  double direction = 0;
};

/// For a network that computes in `dtype` (f32, f64, bf16 or f16). FINGERPRINT.md has what was
/// measured.
FingerprintTolerance fingerprint_tolerance(FingerprintKind kind, DType dtype);

/// The largest share of what is added up by which an update of so many towers may differ from the
/// reference's, where they add gradients in the optimizer's type or in `narrow`.
double update_tolerance(std::optional<DType> narrow, int towers);

/// The largest relative deviation of the L2 term.
double l2_tolerance();

/// The largest difference of a pixel that was normalised, which is at most 1: an epsilon of f32,
/// where its quotient is rounded once.
double pixel_tolerance();

}  // namespace bench
