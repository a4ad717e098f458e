#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "models/base/philox.h"
#include "pipeline/formats/jpeg_decoder.h"
#include "pipeline/input.h"
#include "pipeline/stages/antialiased_resize.h"
#include "pipeline/stages/color_distortion.h"
#include "pipeline/stages/crop_window.h"
#include "pipeline/stages/float_resize.h"
#include "pipeline/stages/resize.h"

namespace bench {

struct PreprocessOptions {
  ImageSize output;
  SlotLayout layout = SlotLayout::nchw;
  bool training = true;
  Preprocessor preprocessor = Preprocessor::original;
  ResizeMethod method = ResizeMethod::bilinear;
  PixelScaling scaling = kSymmetric;
  bool distort_colors = false;
  bool distort_in_yiq = true;
  DctMethod dct = DctMethod::fast;
  /// True: only the window that the crop keeps is decoded. False: the whole image. The pixels are
  /// the same.
  bool fused = true;
  /// Images with more pixels are refused; without it, those above the decoder's limits.
  std::optional<std::int64_t> max_image_pixels = {};
};

/// Turns one encoded image into a batch row: window, flip (training), resize, distorted colours,
/// then normalise or round. One preprocessor serves one thread.
class ImagePreprocessor {
 public:
  explicit ImagePreprocessor(const PreprocessOptions& options);

  /// Chooses the window and decodes it. In training, `random` chooses window, flip and colours;
  /// evaluation does not use it. `position` is the image's place in its epoch, on which
  /// ResizeMethod::round_robin and the order of distortions depend. Throws DataError with a reason,
  /// without file and offset.
  JpegHeader decode(std::string_view jpeg, std::span<const RelativeBox> boxes, RandomStream random,
                    std::uint64_t position = 0);
  /// Writes the image decoded last: 3 x height x width floats in the layout.
  void pack(float* output);
  /// Writes it in u8, not normalised, and always in NHWC. Only for options that fits_u8_slots()
  /// accepts.
  void pack(std::uint8_t* output);

  /// The number of warnings that the decoder has given so far.
  [[nodiscard]] std::int64_t warnings() const { return decoder_.warnings(); }
  /// The number of seekable images that it has decoded so far.
  [[nodiscard]] std::int64_t seekable() const { return decoder_.seekable(); }

 private:
  /// The size to which evaluation resizes before it cuts out the centre.
  [[nodiscard]] ImageSize evaluation_size(ImageSize image) const;
  void plan_training(ImageSize image, std::span<const RelativeBox> boxes, RandomStream& random);
  void plan_evaluation(ImageSize image);
  void plan_torchvision(ImageSize image);
  /// Chooses the method of this image.
  void choose_method(std::uint64_t position);
  void set_taps(const AxisResize& columns, const AxisResize& rows);
  void copy_window();
  void pad();
  void pack_values(float* output);

  PreprocessOptions options_;
  /// Values are resized as floats and kept, which is slower.
  bool as_values_ = false;
  JpegDecoder decoder_;
  Resizer resizer_;
  PixelWindow window_;  ///< the part of the image that the crop keeps
  AxisTaps columns_;    ///< within the window
  AxisTaps rows_;
  /// The same if values are kept.
  ResizeMethod method_ = ResizeMethod::bilinear;
  FloatResizer float_resizer_;
  FloatTaps float_columns_;
  FloatTaps float_rows_;
  std::optional<ColorDistortion> distortion_;
  /// The same for torchvision's preprocessing.
  AntialiasedResizer antialiased_;
  FixedTaps weighted_columns_;
  FixedTaps weighted_rows_;
  RgbxView pixels_;
  std::vector<std::uint32_t> padded_;
};

}  // namespace bench
