#pragma once

#include <cstdint>
#include <string>

#include "pipeline/input_bound.h"

namespace bench {

/// Speeds in images per second, measured one after another.
struct DiagnosedSpeeds {
  /// The device repeats one batch, which is already in its memory. The same as with_copies if the
  /// device computes in host memory.
  double device = 0;
  /// The device gets batches from the host's memory.
  double with_copies = 0;
  /// No device consumes the batches.
  double input = 0;
  /// Input and device together.
  double both = 0;
  /// The device computes on the input's processors.
  bool shares_processors = false;
};

/// What limits the run of both.
enum class DiagnosedBound : std::uint8_t {
  device,
  copy,        ///< Copies of batches to the device.
  input,       ///< The input alone is not faster.
  processors,  ///< Each alone is faster, but they share processors.
  unclear,     ///< Each alone is faster.
};

/// Speeds that differ by less than a tenth count as equal.
DiagnosedBound diagnose(const DiagnosedSpeeds& speeds);

/// One sentence with the bound and the largest possible gain. `input` is the verdict on the input
/// alone, over its interval.
std::string describe(const DiagnosedSpeeds& speeds, const InputVerdict& input,
                     const InputInterval& interval);

}  // namespace bench
