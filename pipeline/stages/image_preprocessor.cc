#include "pipeline/stages/image_preprocessor.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "models/base/errors.h"

namespace bench {
namespace {

/// Evaluation resizes to this multiple of the network's size before it cuts out the centre: 224
/// becomes 256.
constexpr float kEvaluationMargin = 1.145F;

/// The official ResNet's evaluation resizes the shorter side to this.
constexpr float kOfficialSide = 256;

bool is_torchvision(Preprocessor preprocessor) {
  return preprocessor == Preprocessor::torchvision ||
         preprocessor == Preprocessor::torchvision_bicubic;
}

Interpolation interpolation_of(ResizeMethod method) {
  return method == ResizeMethod::nearest ? Interpolation::nearest : Interpolation::bilinear;
}

/// torchvision's presets resize the shorter side to 256 for networks of 224.
constexpr int kTorchvisionSide = 256;
constexpr int kTorchvisionCrop = 224;
constexpr std::array<float, 3> kTorchvisionMeans{0.485F, 0.456F, 0.406F};
constexpr std::array<float, 3> kTorchvisionDeviations{0.229F, 0.224F, 0.225F};

/// The size to which torchvision's Resize brings an image whose centre of `output` is then cut out.
ImageSize torchvision_size(ImageSize image, ImageSize output) {
  const int side = std::min(output.width, output.height) * kTorchvisionSide / kTorchvisionCrop;
  const int shorter = std::min(image.width, image.height);
  const auto scaled = [&](int length) {
    return length == shorter
               ? side
               : static_cast<int>(static_cast<double>(std::int64_t{side} * length) / shorter);
  };
  return {.width = scaled(image.width), .height = scaled(image.height)};
}

/// The first position of a centre of `count`: rounded to nearest, ties to even.
int torchvision_begin(int size, int count) {
  return static_cast<int>(std::lrint((size - count) / 2.0));
}

/// The network's input for each pixel value of a channel.
std::array<float, 256> torchvision_inputs(std::size_t channel) {
  std::array<float, 256> inputs{};
  for (std::size_t pixel = 0; pixel < inputs.size(); ++pixel) {
    inputs.at(pixel) = (static_cast<float>(pixel) / 255.0F - kTorchvisionMeans.at(channel)) /
                       kTorchvisionDeviations.at(channel);
  }
  return inputs;
}

}  // namespace

ImagePreprocessor::ImagePreprocessor(const PreprocessOptions& options)
    : options_(options), decoder_(options.dct, options.max_image_pixels) {
  check(options.output.width > 0 && options.output.height > 0,
        "the size of images must be positive");
  check(!is_torchvision(options.preprocessor) ||
            (!options.training && options.output.width == options.output.height),
        "torchvision's preprocessing is for evaluation, and for square outputs");
  if (options_.preprocessor != Preprocessor::original) {
    // The others have no choices.
    options_.method = ResizeMethod::bilinear;
    options_.scaling =
        options_.preprocessor == Preprocessor::official ? kImagenetMeans : kSymmetric;
    options_.distort_colors = false;
  }
  as_values_ = options_.scaling != kSymmetric || (options_.training && options_.distort_colors) ||
               options_.method == ResizeMethod::bicubic || options_.method == ResizeMethod::area ||
               options_.method == ResizeMethod::round_robin;
}

JpegHeader ImagePreprocessor::decode(std::string_view jpeg, std::span<const RelativeBox> boxes,
                                     RandomStream random, std::uint64_t position) {
  const JpegHeader header = decoder_.open(jpeg);
  const ImageSize image{.width = header.width, .height = header.height};
  choose_method(position);
  if (is_torchvision(options_.preprocessor)) {
    plan_torchvision(image);
  } else if (options_.training) {
    plan_training(image, boxes, random);
    if (options_.distort_colors) {
      distortion_ = draw_color_distortion(random, options_.distort_in_yiq, position % 2 == 0);
    }
  } else {
    plan_evaluation(image);
  }
  pixels_ = decode_window(decoder_, header, window_, options_.fused);
  if (!is_torchvision(options_.preprocessor) && method_ == ResizeMethod::crop) {
    pad();
  }
  return header;
}

void ImagePreprocessor::choose_method(std::uint64_t position) {
  constexpr std::array kInTurn{ResizeMethod::nearest, ResizeMethod::bilinear, ResizeMethod::bicubic,
                               ResizeMethod::area};
  method_ = options_.method == ResizeMethod::round_robin ? kInTurn.at(position % kInTurn.size())
                                                         : options_.method;
}

void ImagePreprocessor::set_taps(const AxisResize& columns, const AxisResize& rows) {
  if (as_values_ && method_ == ResizeMethod::bicubic) {
    float_columns_ = bicubic_taps(columns);
    float_rows_ = bicubic_taps(rows);
    return;
  }
  if (as_values_ && method_ == ResizeMethod::area) {
    float_columns_ = area_taps(columns);
    float_rows_ = area_taps(rows);
    return;
  }
  columns_ = resize_taps(columns, interpolation_of(method_));
  rows_ = resize_taps(rows, interpolation_of(method_));
  if (as_values_) {
    float_columns_ = float_taps(columns_);
    float_rows_ = float_taps(rows_);
  }
}

void ImagePreprocessor::pack_values(float* output) {
  const std::span<float> values = float_resizer_.run(pixels_, float_columns_, float_rows_);
  if (distortion_) {
    distort_colors(values, *distortion_);
  }
  pack_scaled(values, options_.scaling, options_.layout, output);
}

void ImagePreprocessor::pack(float* output) {
  if (as_values_) {
    pack_values(output);
    return;
  }
  if (is_torchvision(options_.preprocessor)) {
    static const std::array kInputs{torchvision_inputs(0), torchvision_inputs(1),
                                    torchvision_inputs(2)};
    const auto pixels = antialiased_.run(pixels_, weighted_columns_, weighted_rows_);
    const std::size_t area = pixels.size() / kInputs.size();
    const bool planes = options_.layout == SlotLayout::nchw;
    for (std::size_t c = 0; c < kInputs.size(); ++c) {
      float* out = planes ? output + c * area : output + c;
      for (std::size_t i = 0; i < area; ++i, out += planes ? 1 : kInputs.size()) {
        *out = kInputs[c][pixels[i * kInputs.size() + c]];
      }
    }
    return;
  }
  resizer_.run(pixels_, columns_, rows_, options_.layout, output);
}

void ImagePreprocessor::pack(std::uint8_t* output) {
  check(options_.preprocessor == Preprocessor::original && !as_values_,
        "these options need f32 slots");
  resizer_.run(pixels_, columns_, rows_, output);
}

void ImagePreprocessor::plan_training(ImageSize image, std::span<const RelativeBox> boxes,
                                      RandomStream& random) {
  const ImageSize& output = options_.output;
  const bool crop = method_ == ResizeMethod::crop;
  if (crop) {
    window_ = sample_window(image, output, random);
    copy_window();
  } else {
    window_ = sample_distorted_box(image, boxes, random);
    set_taps({.from = window_.width, .to = output.width, .begin = 0, .count = output.width},
             {.from = window_.height, .to = output.height, .begin = 0, .count = output.height});
  }
  if (random.uniform() < 0.5F) {
    // The image is mirrored before it is resized, which matters without half-pixel centres.
    const int extent = crop ? output.width : window_.width;
    if (as_values_) {
      float_columns_.mirror(extent);
    } else {
      columns_.mirror(extent);
    }
  }
}

void ImagePreprocessor::copy_window() {
  columns_ = copy_taps(0, options_.output.width);
  rows_ = copy_taps(0, options_.output.height);
  if (as_values_) {
    float_columns_ = float_taps(columns_);
    float_rows_ = float_taps(rows_);
  }
}

ImageSize ImagePreprocessor::evaluation_size(ImageSize image) const {
  const auto width = static_cast<float>(image.width);
  const auto height = static_cast<float>(image.height);
  if (options_.preprocessor == Preprocessor::official) {
    const float ratio = kOfficialSide / std::min(width, height);
    return {.width = static_cast<int>(width * ratio), .height = static_cast<int>(height * ratio)};
  }
  const float ratio = std::max(static_cast<float>(options_.output.width) / width,
                               static_cast<float>(options_.output.height) / height);
  return {.width = static_cast<int>(width * ratio * kEvaluationMargin),
          .height = static_cast<int>(height * ratio * kEvaluationMargin)};
}

void ImagePreprocessor::plan_evaluation(ImageSize image) {
  const ImageSize& output = options_.output;
  if (method_ == ResizeMethod::crop) {
    window_ = central_window(image, output);
    copy_window();
    return;
  }
  // Only the centre of the resized image is used, so only its source pixels are needed.
  const ImageSize resized = evaluation_size(image);
  const PixelWindow centre = central_window(resized, output);
  set_taps({.from = image.width, .to = resized.width, .begin = centre.x, .count = output.width},
           {.from = image.height, .to = resized.height, .begin = centre.y, .count = output.height});
  const auto keep = [&](auto& columns, auto& rows) {
    window_ = {.x = columns.lowest(),
               .y = rows.lowest(),
               .width = columns.highest() - columns.lowest() + 1,
               .height = rows.highest() - rows.lowest() + 1};
    columns.shift(window_.x);
    rows.shift(window_.y);
  };
  if (as_values_) {
    keep(float_columns_, float_rows_);
  } else {
    keep(columns_, rows_);
  }
}

void ImagePreprocessor::plan_torchvision(ImageSize image) {
  const ImageSize& output = options_.output;
  const ImageSize resized = torchvision_size(image, output);
  const ResizeFilter filter = options_.preprocessor == Preprocessor::torchvision_bicubic
                                  ? ResizeFilter::cubic
                                  : ResizeFilter::triangle;
  weighted_columns_ = antialiased_taps({.from = image.width,
                                        .to = resized.width,
                                        .begin = torchvision_begin(resized.width, output.width),
                                        .count = output.width},
                                       filter);
  weighted_rows_ = antialiased_taps({.from = image.height,
                                     .to = resized.height,
                                     .begin = torchvision_begin(resized.height, output.height),
                                     .count = output.height},
                                    filter);
  window_ = {.x = weighted_columns_.lowest(),
             .y = weighted_rows_.lowest(),
             .width = weighted_columns_.highest() - weighted_columns_.lowest() + 1,
             .height = weighted_rows_.highest() - weighted_rows_.lowest() + 1};
  weighted_columns_.shift(window_.x);
  weighted_rows_.shift(window_.y);
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
