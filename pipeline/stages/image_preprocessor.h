#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "models/base/philox.h"
#include "pipeline/formats/jpeg_decoder.h"
#include "pipeline/input.h"
#include "pipeline/stages/antialiased_resize.h"
#include "pipeline/stages/crop_window.h"
#include "pipeline/stages/resize.h"

namespace bench {

struct PreprocessOptions {
  ImageSize output;
  SlotLayout layout = SlotLayout::nchw;
  bool training = true;
  Preprocessor preprocessor = Preprocessor::original;
  ResizeMethod method = ResizeMethod::bilinear;  ///< bilinear, nearest or crop
  DctMethod dct = DctMethod::fast;
  /// True: only the window that the crop keeps is decoded. False: the whole image. The pixels are
  /// the same.
  bool fused = true;
};

/// Turns one encoded image into a batch row: window, flip (training), resize, then normalise or
/// round. One preprocessor serves one thread.
class ImagePreprocessor {
 public:
  explicit ImagePreprocessor(const PreprocessOptions& options);

  /// Chooses the window and decodes it. In training, `random` chooses window and flip; evaluation
  /// does not use it. Throws DataError with a reason, without file and offset.
  JpegHeader decode(std::string_view jpeg, std::span<const RelativeBox> boxes, RandomStream random);
  /// Writes the image decoded last: 3 x height x width floats in the layout.
  void pack(float* output);
  /// Writes it in u8, not normalised, and always in NHWC. Only for Preprocessor::original.
  void pack(std::uint8_t* output);

  /// The number of warnings that the decoder has given so far.
  [[nodiscard]] std::int64_t warnings() const { return decoder_.warnings(); }

 private:
  /// The size to which evaluation resizes before it cuts out the centre.
  [[nodiscard]] ImageSize evaluation_size(ImageSize image) const;
  void plan_training(ImageSize image, std::span<const RelativeBox> boxes, RandomStream& random);
  void plan_evaluation(ImageSize image);
  void plan_torchvision(ImageSize image);
  void pad();

  PreprocessOptions options_;
  JpegDecoder decoder_;
  Resizer resizer_;
  PixelWindow window_;  ///< the part of the image that the crop keeps
  AxisTaps columns_;    ///< within the window
  AxisTaps rows_;
  /// The same for torchvision's preprocessing.
  AntialiasedResizer antialiased_;
  WeightedTaps weighted_columns_;
  WeightedTaps weighted_rows_;
  RgbxView pixels_;
  std::vector<std::uint32_t> padded_;
};

}  // namespace bench
