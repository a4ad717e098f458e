#include "pipeline/stages/image_preprocessor.h"

#include <algorithm>

#include "models/base/errors.h"

namespace bench {
namespace {

/// Evaluation resizes to this multiple of the network's size before it cuts out the centre: 224
/// becomes 256.
constexpr float kEvaluationMargin = 1.145F;

Interpolation interpolation_of(ResizeMethod method) {
  return method == ResizeMethod::nearest ? Interpolation::nearest : Interpolation::bilinear;
}

}  // namespace

ImagePreprocessor::ImagePreprocessor(const PreprocessOptions& options)
    : options_(options), decoder_(options.dct) {
  check(options.output.width > 0 && options.output.height > 0,
        "the size of images must be positive");
  check(options.method == ResizeMethod::bilinear || options.method == ResizeMethod::nearest ||
            options.method == ResizeMethod::crop,
        "the resize method is not built");
}

JpegHeader ImagePreprocessor::decode(std::string_view jpeg, std::span<const RelativeBox> boxes,
                                     RandomStream random) {
  const JpegHeader header = decoder_.open(jpeg);
  const ImageSize image{.width = header.width, .height = header.height};
  if (options_.training) {
    plan_training(image, boxes, random);
  } else {
    plan_evaluation(image);
  }
  if (options_.fused) {
    pixels_ = decoder_.decode(window_);
  } else {
    const RgbxView whole =
        decoder_.decode({.x = 0, .y = 0, .width = image.width, .height = image.height});
    pixels_ = {.pixels = whole.row(window_.y) + window_.x,
               .width = window_.width,
               .height = window_.height,
               .stride = whole.stride};
  }
  if (options_.method == ResizeMethod::crop) {
    pad();
  }
  return header;
}

void ImagePreprocessor::pack(float* output) {
  resizer_.run(pixels_, columns_, rows_, options_.layout, output);
}

void ImagePreprocessor::pack(std::uint8_t* output) {
  resizer_.run(pixels_, columns_, rows_, output);
}

void ImagePreprocessor::plan_training(ImageSize image, std::span<const RelativeBox> boxes,
                                      RandomStream& random) {
  const ImageSize& output = options_.output;
  if (options_.method == ResizeMethod::crop) {
    window_ = sample_window(image, output, random);
    columns_ = copy_taps(0, output.width);
    rows_ = copy_taps(0, output.height);
  } else {
    window_ = sample_distorted_box(image, boxes, random);
    const Interpolation interpolation = interpolation_of(options_.method);
    columns_ =
        resize_taps({.from = window_.width, .to = output.width, .begin = 0, .count = output.width},
                    interpolation);
    rows_ = resize_taps(
        {.from = window_.height, .to = output.height, .begin = 0, .count = output.height},
        interpolation);
  }
  if (random.uniform() < 0.5F) {
    // The image is mirrored before it is resized, which matters without half-pixel centres.
    const bool crop = options_.method == ResizeMethod::crop;
    columns_.mirror(crop ? output.width : window_.width);
  }
}

ImageSize ImagePreprocessor::evaluation_size(ImageSize image) const {
  const auto width = static_cast<float>(image.width);
  const auto height = static_cast<float>(image.height);
  const float ratio = std::max(static_cast<float>(options_.output.width) / width,
                               static_cast<float>(options_.output.height) / height);
  return {.width = static_cast<int>(width * ratio * kEvaluationMargin),
          .height = static_cast<int>(height * ratio * kEvaluationMargin)};
}

void ImagePreprocessor::plan_evaluation(ImageSize image) {
  const ImageSize& output = options_.output;
  if (options_.method == ResizeMethod::crop) {
    window_ = central_window(image, output);
    columns_ = copy_taps(0, output.width);
    rows_ = copy_taps(0, output.height);
    return;
  }
  // Only the centre of the resized image is used, so only its source pixels are needed.
  const ImageSize resized = evaluation_size(image);
  const PixelWindow centre = central_window(resized, output);
  const Interpolation interpolation = interpolation_of(options_.method);
  columns_ = resize_taps(
      {.from = image.width, .to = resized.width, .begin = centre.x, .count = output.width},
      interpolation);
  rows_ = resize_taps(
      {.from = image.height, .to = resized.height, .begin = centre.y, .count = output.height},
      interpolation);
  window_ = {.x = columns_.lowest(),
             .y = rows_.lowest(),
             .width = columns_.highest() - columns_.lowest() + 1,
             .height = rows_.highest() - rows_.lowest() + 1};
  columns_.shift(window_.x);
  rows_.shift(window_.y);
}

void ImagePreprocessor::pad() {
  const ImageSize& output = options_.output;
  if (pixels_.width == output.width && pixels_.height == output.height) {
    return;
  }
  const auto stride = static_cast<std::size_t>(output.width);
  padded_.assign(stride * static_cast<std::size_t>(output.height), 0);
  const int left = (output.width - pixels_.width) / 2;
  const int top = (output.height - pixels_.height) / 2;
  for (int y = 0; y < pixels_.height; ++y) {
    std::copy_n(pixels_.row(y), pixels_.width,
                padded_.data() + static_cast<std::size_t>(top + y) * stride + left);
  }
  pixels_ = {.pixels = padded_.data(),
             .width = output.width,
             .height = output.height,
             .stride = static_cast<std::ptrdiff_t>(output.width)};
}

}  // namespace bench
