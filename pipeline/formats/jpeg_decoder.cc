#include "pipeline/formats/jpeg_decoder.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "models/base/errors.h"
#include "pipeline/formats/jpeg_cutter.h"
#include "pipeline/formats/libjpeg_errors.h"

namespace bench {
namespace {

/// Extra columns decoded at each side of a window. Chroma upsampling reads neighbouring columns,
/// and libjpeg treats the side of a cropped region as the side of the image.
constexpr int kMarginPixels = 2;
/// jpeg_crop_scanline rounds the left side down to a multiple of at most this many pixels.
constexpr int kLargestMcuPixels = 32;

bool create(jpeg_decompress_struct& info, LibjpegErrors& errors) {
  if (setjmp(errors.return_point) != 0) {
    return false;
  }
  jpeg_create_decompress(&info);
  return true;
}

bool read_header(jpeg_decompress_struct& info, LibjpegErrors& errors, std::string_view jpeg) {
  if (setjmp(errors.return_point) != 0) {
    return false;
  }
  jpeg_abort_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(jpeg.data()), jpeg.size());
  jpeg_read_header(&info, TRUE);
  return true;
}

/// The destination of decode_rows: `capacity` pixels per row. decode_rows sets where the window
/// begins in a row.
struct Target {
  std::uint32_t* pixels;
  std::size_t capacity;
  int first_column;
};

bool decode_rows(jpeg_decompress_struct& info, LibjpegErrors& errors, const PixelWindow& window,
                 Target& target) {
  if (setjmp(errors.return_point) != 0) {
    return false;
  }
  jpeg_start_decompress(&info);
  const int image_width = static_cast<int>(info.output_width);
  target.first_column = window.x;
  if (window.width < image_width) {
    const int left = window.x > kMarginPixels ? window.x - kMarginPixels : 0;
    const int right = window.x + window.width + kMarginPixels;
    auto column = static_cast<JDIMENSION>(left);
    auto width = static_cast<JDIMENSION>((right < image_width ? right : image_width) - left);
    jpeg_crop_scanline(&info, &column, &width);
    target.first_column = window.x - static_cast<int>(column);
  }
  if (info.output_width > target.capacity) {
    fail(errors, "its width after cropping is unexpected");
  }
  if (window.y > 0) {
    jpeg_skip_scanlines(&info, static_cast<JDIMENSION>(window.y));
  }
  for (int y = 0; y < window.height;) {
    auto* row =
        reinterpret_cast<JSAMPROW>(target.pixels + static_cast<std::size_t>(y) * target.capacity);
    y += static_cast<int>(jpeg_read_scanlines(&info, &row, 1));
  }
  jpeg_abort_decompress(&info);
  return true;
}

/// Multiplies inks as the original does: with inverted inks, red = cyan x black / 255.
void convert_cmyk(std::uint32_t* pixels, std::size_t count, bool inverted) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t inks = pixels[i];
    if (!inverted) {
      inks = ~inks;
    }
    const std::uint32_t black = inks >> 24U;
    pixels[i] = rgbx(channel_of(inks, 0) * black / 255, channel_of(inks, 1) * black / 255,
                     channel_of(inks, 2) * black / 255);
  }
}

std::string reason_for_no_jpeg(std::string_view data) {
  if (data.empty()) {
    return "the image is empty";
  }
  std::string_view kind = "it does not begin with the bytes ff d8";
  if (data.starts_with("\x89PNG")) {
    kind = "it is a PNG";
  } else if (data.starts_with("GIF8")) {
    kind = "it is a GIF";
  } else if (data.starts_with("BM")) {
    kind = "it seems to be a BMP";
  } else if (data.starts_with("RIFF")) {
    kind = "it seems to be a WebP";
  }
  return fmt::format("the image is not a JPEG: {}", kind);
}

}  // namespace

struct JpegDecoder::State {
  jpeg_decompress_struct info{};
  LibjpegErrors errors{};
  jpeg_progress_mgr progress{};
  J_DCT_METHOD dct = JDCT_ISLOW;
  std::vector<std::uint32_t> pixels;
  std::int64_t most_pixels = 0;
  std::int64_t most_pixels_in_scans = 0;
  std::int64_t warnings = 0;
  std::int64_t seekable = 0;
  std::string_view jpeg{};  ///< as opened
  std::size_t scan = 0;     ///< where its entropy-coded data begin
  JpegCutter cutter{};

  /// The parts of the opened image if it is seekable, as libjpeg has read its header too.
  [[nodiscard]] std::optional<SeekableJpeg> parts() const {
    auto found = info.restart_interval > 0 ? read_seekable(jpeg) : std::nullopt;
    const bool agrees = found && found->width == static_cast<int>(info.image_width) &&
                        found->height == static_cast<int>(info.image_height) &&
                        found->interval == static_cast<int>(info.restart_interval) &&
                        found->scan == scan;
    return agrees ? found : std::nullopt;
  }

  /// Opens a smaller JPEG in place of a seekable one, and returns the place of the window in it.
  PixelWindow cut(const PixelWindow& window) {
    const auto seekable_parts = parts();
    if (!seekable_parts) {
      return window;
    }
    if (window.width == seekable_parts->width && window.height == seekable_parts->height) {
      ++seekable;
      return window;
    }
    const auto cut = cutter.cut(jpeg, *seekable_parts, window, kMarginPixels);
    if (!cut) {
      return window;
    }
    ++seekable;
    if (!read_header(info, errors, cut->jpeg)) {
      refuse();
    }
    return cut->window;
  }

  [[noreturn]] void refuse() {
    const std::string reason = fmt::format("cannot decode the JPEG: {}", errors.message);
    jpeg_abort_decompress(&info);
    throw DataError(reason);
  }
};

JpegDecoder::JpegDecoder(DctMethod dct, std::optional<std::int64_t> most_pixels)
    : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.most_pixels = most_pixels.value_or(kMostPixels);
  state.most_pixels_in_scans = most_pixels.value_or(kMostPixelsInScans);
  state.dct = dct == DctMethod::fast ? JDCT_IFAST : JDCT_ISLOW;
  prepare(state.errors);
  state.info.err = &state.errors.base;
  if (!create(state.info, state.errors)) {
    throw DeviceError(fmt::format("cannot start libjpeg: {}", state.errors.message));
  }
  state.progress.progress_monitor = limit_scans;
  state.info.progress = &state.progress;
}

JpegDecoder::~JpegDecoder() { jpeg_destroy_decompress(&state_->info); }

JpegHeader JpegDecoder::open(std::string_view jpeg) {
  if (!jpeg.starts_with("\xff\xd8")) {
    throw DataError(reason_for_no_jpeg(jpeg));
  }
  State& state = *state_;
  if (!read_header(state.info, state.errors, jpeg)) {
    state.refuse();
  }
  state.jpeg = jpeg;
  // An end marker cannot occur within entropy-coded data, so it marks the true end. Without this
  // check, a window above the end of truncated data would decode without an error.
  state.scan = jpeg.size() - state.info.src->bytes_in_buffer;
  const std::size_t end = jpeg.rfind("\xff\xd9");
  if (end == std::string_view::npos || end < state.scan) {
    throw DataError("the JPEG is truncated: it has no end-of-image marker");
  }
  const std::int64_t pixels = std::int64_t{state.info.image_width} * state.info.image_height;
  const bool in_scans = jpeg_has_multiple_scans(&state.info) != 0;
  const std::int64_t most = in_scans ? state.most_pixels_in_scans : state.most_pixels;
  if (pixels > most) {
    throw DataError(
        fmt::format("the JPEG{} has {} x {} pixels; at most {} are accepted "
                    "(--max_image_pixels)",
                    in_scans ? " is progressive and" : "", state.info.image_width,
                    state.info.image_height, most));
  }
  return {.width = static_cast<int>(state.info.image_width),
          .height = static_cast<int>(state.info.image_height),
          .components = state.info.num_components};
}

RgbxView JpegDecoder::decode(const PixelWindow& wanted) {
  State& state = *state_;
  check(wanted.x >= 0 && wanted.y >= 0 && wanted.width > 0 && wanted.height > 0 &&
            wanted.x + wanted.width <= static_cast<int>(state.info.image_width) &&
            wanted.y + wanted.height <= static_cast<int>(state.info.image_height),
        "the window must be inside the image");
  const PixelWindow window = state.cut(wanted);
  const bool cmyk =
      state.info.jpeg_color_space == JCS_CMYK || state.info.jpeg_color_space == JCS_YCCK;
  state.info.out_color_space = cmyk ? JCS_CMYK : JCS_EXT_RGBX;
  state.info.dct_method = state.dct;
  Target target{
      .pixels = nullptr,
      .capacity = static_cast<std::size_t>(window.width + 2 * kMarginPixels + kLargestMcuPixels),
      .first_column = 0};
  const std::size_t count = target.capacity * static_cast<std::size_t>(window.height);
  if (state.pixels.size() < count) {
    state.pixels.resize(count);
  }
  target.pixels = state.pixels.data();
  state.errors.base.num_warnings = 0;
  if (!decode_rows(state.info, state.errors, window, target)) {
    state.refuse();
  }
  state.warnings += state.errors.base.num_warnings;
  if (cmyk) {
    convert_cmyk(state.pixels.data(), count, state.info.saw_Adobe_marker != 0);
  }
  return {.pixels = state.pixels.data() + target.first_column,
          .width = window.width,
          .height = window.height,
          .stride = static_cast<std::ptrdiff_t>(target.capacity)};
}

std::int64_t JpegDecoder::warnings() const { return state_->warnings; }
std::int64_t JpegDecoder::seekable() const { return state_->seekable; }

RgbxView decode_window(JpegDecoder& decoder, const JpegHeader& header, const PixelWindow& window,
                       bool fused) {
  if (fused) {
    return decoder.decode(window);
  }
  const RgbxView whole =
      decoder.decode({.x = 0, .y = 0, .width = header.width, .height = header.height});
  return {.pixels = whole.row(window.y) + window.x,
          .width = window.width,
          .height = window.height,
          .stride = whole.stride};
}

}  // namespace bench
