#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/formats/rgbx_image.h"
#include "pipeline/input.h"
#include "pipeline/stages/resize_taps.h"

namespace bench {

/// Resizes, normalises and packs one image in a single pass over its output. It uses the machine's
/// vector instructions, but no fused multiply-adds, so that every machine gives the same bits. One
/// resizer serves one thread and reuses its memory.
class Resizer {
 public:
  /// Writes columns.size() x rows.size() pixels of three channels to `output`, in `layout`. Each
  /// channel is mixed along x, then along y, all in f32, then normalised: value * (1 / 127.5) - 1.
  /// Taps must be within `source`.
  void run(const RgbxView& source, const AxisTaps& columns, const AxisTaps& rows, SlotLayout layout,
           float* output);
  /// Writes the pixels in u8, NHWC. Mixed values are not normalised but rounded to nearest, ties to
  /// even.
  void run(const RgbxView& source, const AxisTaps& columns, const AxisTaps& rows,
           std::uint8_t* output);

 private:
  /// Calls pack(y, Mixed) for each output row.
  template <class Pack>
  void mix(const RgbxView& source, const AxisTaps& columns, const AxisTaps& rows, const Pack& pack);

  std::vector<float> upper_;
  std::vector<float> lower_;
};

}  // namespace bench
