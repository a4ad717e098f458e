#include "pipeline/formats/jpeg_cutter.h"

#include <algorithm>

namespace bench {
namespace {

// Markers of ITU-T T.81, table B.1, after their byte 0xFF.
constexpr unsigned kTemporary = 0x01;
constexpr unsigned kBaseline = 0xC0;  // SOF0, the frame's header
constexpr unsigned kExtended = 0xC1;  // SOF1
constexpr unsigned kTables = 0xC4;    // DHT
constexpr unsigned kArithmetic = 0xCC;
constexpr unsigned kFirstRestart = 0xD0;
constexpr unsigned kEnd = 0xD9;
constexpr unsigned kScan = 0xDA;
constexpr unsigned kInterval = 0xDD;
constexpr int kRestarts = 8;
constexpr std::size_t kComponents = 3;
constexpr unsigned kBlock = 8;  ///< pixels

unsigned byte_at(std::string_view bytes, std::size_t place) {
  return static_cast<unsigned char>(bytes[place]);
}
unsigned word_at(std::string_view bytes, std::size_t place) {
  return byte_at(bytes, place) << 8U | byte_at(bytes, place + 1);
}

/// Reads a frame's header; its `segment` begins with the length.
bool read_frame(std::string_view segment, SeekableJpeg& parts) {
  constexpr std::size_t kFixed = 8;
  constexpr unsigned kPrecision = 8;
  if (segment.size() != kFixed + 3 * kComponents || byte_at(segment, 2) != kPrecision ||
      byte_at(segment, 7) != kComponents) {
    return false;
  }
  parts.height = static_cast<int>(word_at(segment, 3));
  parts.width = static_cast<int>(word_at(segment, 5));
  unsigned across = 1;
  unsigned down = 1;
  for (std::size_t i = 0; i < kComponents; ++i) {
    const unsigned sampling = byte_at(segment, kFixed + 3 * i + 1);
    across = std::max(across, sampling >> 4U);
    down = std::max(down, sampling & 0xFU);
  }
  parts.mcu_width = static_cast<int>(kBlock * across);
  parts.mcu_height = static_cast<int>(kBlock * down);
  return parts.width > 0 && parts.height > 0;
}

void put_word(std::string& bytes, std::size_t place, int value) {
  bytes[place] = static_cast<char>(value >> 8);
  bytes[place + 1] = static_cast<char>(value & 0xFF);
}

void append_marker(std::string& bytes, unsigned marker) {
  bytes += '\xff';
  bytes += static_cast<char>(marker);
}

}  // namespace

std::optional<SeekableJpeg> read_seekable(std::string_view jpeg) {
  SeekableJpeg parts;
  std::size_t place = 2;
  while (place + 4 <= jpeg.size() && byte_at(jpeg, place) == 0xFF) {
    const unsigned marker = byte_at(jpeg, place + 1);
    if (marker == 0xFF) {  // a fill byte
      ++place;
      continue;
    }
    if (marker <= kTemporary || (marker >= kFirstRestart && marker <= kEnd)) {
      return std::nullopt;  // It has no length.
    }
    const std::size_t begin = place + 2;
    const std::size_t length = word_at(jpeg, begin);
    if (length < 2 || length > jpeg.size() - begin) {
      return std::nullopt;
    }
    const std::string_view segment = jpeg.substr(begin, length);
    place = begin + length;
    if (marker == kBaseline || marker == kExtended) {
      if (!read_frame(segment, parts)) {
        return std::nullopt;
      }
      parts.frame = begin + 3;
    } else if (marker == kInterval && length == 4) {
      parts.interval = static_cast<int>(word_at(segment, 2));
    } else if (marker == kScan) {
      parts.scan = place;
      const bool whole = length > 2 && byte_at(segment, 2) == kComponents;
      const bool even =
          parts.frame > 0 && parts.interval > 0 && parts.mcus_per_row() % parts.interval == 0;
      return whole && even ? std::optional(parts) : std::nullopt;
    } else if (marker > kExtended && marker <= kArithmetic + 3 && marker != kTables) {
      return std::nullopt;  // progressive, lossless or arithmetic coding
    }
  }
  return std::nullopt;
}

bool JpegCutter::find_intervals(std::string_view jpeg, const SeekableJpeg& parts) {
  const std::size_t intervals = static_cast<std::size_t>(parts.mcus_per_row() / parts.interval) *
                                static_cast<std::size_t>(parts.mcu_rows());
  begins_.assign(1, parts.scan);
  std::size_t place = parts.scan;
  while ((place = jpeg.find('\xff', place)) != std::string_view::npos && place + 1 < jpeg.size()) {
    const unsigned marker = byte_at(jpeg, place + 1);
    if (marker == 0xFF) {  // a fill byte
      ++place;
      continue;
    }
    place += 2;
    if (marker == 0) {  // a byte 0xFF of the data
      continue;
    }
    const auto number = static_cast<unsigned>((begins_.size() - 1) % kRestarts);
    begins_.push_back(place);
    if (marker == kEnd) {
      return begins_.size() == intervals + 1;
    }
    if (marker != kFirstRestart + number || begins_.size() > intervals) {
      return false;
    }
  }
  return false;
}

std::optional<CutJpeg> JpegCutter::cut(std::string_view jpeg, const SeekableJpeg& parts,
                                       const PixelWindow& window, int margin) {
  if (!find_intervals(jpeg, parts)) {
    return std::nullopt;
  }
  const int interval_width = parts.interval * parts.mcu_width;
  const int per_row = parts.mcus_per_row() / parts.interval;
  int left = std::max(window.x - margin, 0) / interval_width;
  // libjpeg upsamples very narrow images without interpolation.
  while (left > 0 && parts.width - left * interval_width < parts.mcu_width) {
    --left;
  }
  const int top = std::max(window.y - margin, 0) / parts.mcu_height;
  const int right =
      (std::min(window.x + window.width + margin, parts.width) - 1) / interval_width + 1;
  const int bottom =
      (std::min(window.y + window.height + margin, parts.height) - 1) / parts.mcu_height + 1;
  const int x = left * interval_width;
  const int y = top * parts.mcu_height;

  cut_.assign(jpeg.substr(0, parts.scan));
  put_word(cut_, parts.frame, std::min(bottom * parts.mcu_height, parts.height) - y);
  put_word(cut_, parts.frame + 2, std::min(right * interval_width, parts.width) - x);
  unsigned restarts = 0;
  for (int row = top; row < bottom; ++row) {
    for (int column = left; column < right; ++column) {
      if (column != left || row != top) {
        append_marker(cut_, kFirstRestart + restarts++ % kRestarts);
      }
      const std::size_t i = static_cast<std::size_t>(row) * static_cast<std::size_t>(per_row) +
                            static_cast<std::size_t>(column);
      cut_ += jpeg.substr(begins_[i], begins_[i + 1] - 2 - begins_[i]);
    }
  }
  append_marker(cut_, kEnd);
  return CutJpeg{
      .jpeg = cut_,
      .window = {
          .x = window.x - x, .y = window.y - y, .width = window.width, .height = window.height}};
}

}  // namespace bench
