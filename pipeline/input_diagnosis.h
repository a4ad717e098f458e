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
  /// The share of the process's processors that the input uses while both run; 0 if the device does
  /// not compute on them.
  double share_of_input = 0;
};

/// What limits the run of both.
enum class DiagnosedBound : std::uint8_t {
  device,
  copy,        ///< Copies of batches to the device.
  input,       ///< The input alone is not faster.
  processors,  ///< Each alone is faster, and the input takes processors from the device.
  unclear,     ///< Each alone is faster.
};

/// Speeds that differ by less than a tenth count as equal. An input that uses at most a tenth of
/// the processors is assumed not to slow the device.
DiagnosedBound diagnose(const DiagnosedSpeeds& speeds);

/// One sentence with the bound and the largest possible gain. `input` is the verdict on the input
/// alone, over its interval.
std::string describe(const DiagnosedSpeeds& speeds, const InputVerdict& input,
                     const InputInterval& interval);

}  // namespace bench
