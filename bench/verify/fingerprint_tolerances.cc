#include "bench/verify/fingerprint_tolerances.h"

#include <limits>

#include "models/base/errors.h"

namespace bench {
namespace {

// Allows for rounding to f32 in an order that depends on layout and threads. A value within
// rounding of a ReLU's bend changes the gradients of all layers before it.
FingerprintTolerance tolerance_f32(FingerprintKind kind) {
  switch (kind) {
    case FingerprintKind::loss:
      return {.size = 1e-5};
    case FingerprintKind::logits:
    case FingerprintKind::inference_logits:
      return {.size = 1e-5, .direction = 1e-4};
    case FingerprintKind::weight_gradients:
    case FingerprintKind::bias_gradients:
    case FingerprintKind::scale_gradients:
    case FingerprintKind::shift_gradients:
      return {.size = 5e-3, .direction = 0.1};
    case FingerprintKind::means:
    case FingerprintKind::variances:
      return {.size = 1e-5, .direction = 1e-4};
  }
  throw InternalError("this kind of fingerprint part has no tolerance");
}

// Allows for rounding to 8 bits of mantissa between all layers; f16 has three bits more. For a
// network of a hundred layers, two correct gradients differ from each other as much as from f64.
// Each kernel is checked separately.
FingerprintTolerance tolerance_16(FingerprintKind kind) {
  switch (kind) {
    case FingerprintKind::loss:
      return {.size = 5e-3};
    case FingerprintKind::logits:
    case FingerprintKind::inference_logits:
      return {.size = 2e-2, .direction = 0.1};
    case FingerprintKind::weight_gradients:
    case FingerprintKind::bias_gradients:
    case FingerprintKind::scale_gradients:
    case FingerprintKind::shift_gradients:
      return {.size = 1.5, .direction = 3};
    case FingerprintKind::means:
    case FingerprintKind::variances:
      return {.size = 5e-3, .direction = 5e-2};
  }
  throw InternalError("this kind of fingerprint part has no tolerance");
}

}  // namespace

FingerprintTolerance fingerprint_tolerance(FingerprintKind kind, DType dtype) {
  if (is_half(dtype)) {
    return tolerance_16(kind);
  }
  FingerprintTolerance tolerance = tolerance_f32(kind);
  if (dtype == DType::f64) {
    // Values computed in f64 are read in f32.
    constexpr double kFiner = 1e-4;
    tolerance.size *= kFiner;
    tolerance.direction *= kFiner;
  }
  return tolerance;
}

double update_tolerance(std::optional<DType> narrow, int towers) {
  constexpr double kOfF32 = 1e-6;
  if (!narrow) {
    return kOfF32;
  }
  // Each addition rounds once, by at most half an epsilon of the partial sum.
  const double epsilon = *narrow == DType::bf16 ? 0x1p-7 : 0x1p-10;
  return kOfF32 + (towers - 1) * epsilon / 2;
}

double l2_tolerance() { return 1e-5; }

double pixel_tolerance() { return std::numeric_limits<float>::epsilon(); }

}  // namespace bench
