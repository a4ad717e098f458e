#include "pipeline/formats/jpeg_rewriter.h"

#include <cstdlib>
#include <cstring>

#include "models/base/errors.h"
#include "pipeline/formats/jpeg_decoder.h"
#include "pipeline/formats/libjpeg_errors.h"

namespace bench {
namespace {

constexpr int kComponents = 3;
/// Shorter intervals make decoding faster and files larger.
constexpr unsigned kBestInterval = 2;
constexpr unsigned kLongestMarker = 0xFFFF;
constexpr int kApplicationMarkers = 16;

struct Rewriting {
  jpeg_decompress_struct in{};
  jpeg_compress_struct out{};
  jpeg_progress_mgr progress{};
  LibjpegErrors errors{};
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  bool written = false;
};

/// The interval nearest to the best one that divides a row of `count` MCUs.
unsigned interval_for(unsigned count) {
  for (unsigned distance = 0;; ++distance) {
    for (const unsigned interval : {kBestInterval - distance, kBestInterval + distance}) {
      if (interval > 0 && interval <= count && count % interval == 0) {
        return interval;
      }
    }
  }
}

/// True for the markers that libjpeg itself writes: JFIF's and Adobe's.
bool is_written_already(const jpeg_compress_struct& out, const jpeg_marker_struct& marker) {
  const auto begins = [&](const char* name, unsigned length) {
    return marker.data_length >= length && std::memcmp(marker.data, name, length) == 0;
  };
  return (out.write_JFIF_header != 0 && marker.marker == JPEG_APP0 && begins("JFIF", 5)) ||
         (out.write_Adobe_marker != 0 && marker.marker == JPEG_APP0 + 14 && begins("Adobe", 5));
}

/// Returns false with a message after an error. Writes nothing if the image is
/// not to be rewritten.
bool rewrite(Rewriting& all, std::string_view jpeg) {
  if (setjmp(all.errors.return_point) != 0) {
    return false;
  }
  jpeg_decompress_struct& in = all.in;
  jpeg_compress_struct& out = all.out;
  jpeg_create_decompress(&in);
  jpeg_create_compress(&out);
  in.progress = &all.progress;
  jpeg_save_markers(&in, JPEG_COM, kLongestMarker);
  for (int i = 0; i < kApplicationMarkers; ++i) {
    jpeg_save_markers(&in, JPEG_APP0 + i, kLongestMarker);
  }
  jpeg_mem_src(&in, reinterpret_cast<const unsigned char*>(jpeg.data()), jpeg.size());
  jpeg_read_header(&in, TRUE);
  const auto pixels = static_cast<std::int64_t>(in.image_width) * in.image_height;
  if (in.num_components != kComponents || pixels > JpegDecoder::kMostPixels) {
    return true;
  }
  jvirt_barray_ptr* const coefficients = jpeg_read_coefficients(&in);
  if (all.errors.base.num_warnings > 0) {
    return true;
  }
  jpeg_copy_critical_parameters(&in, &out);
  out.optimize_coding = TRUE;
  const auto mcu_width = static_cast<unsigned>(in.max_h_samp_factor * DCTSIZE);
  out.restart_interval = interval_for((in.image_width + mcu_width - 1) / mcu_width);
  jpeg_mem_dest(&out, &all.bytes, &all.size);
  jpeg_write_coefficients(&out, coefficients);
  for (const jpeg_marker_struct* marker = in.marker_list; marker != nullptr;
       marker = marker->next) {
    if (!is_written_already(out, *marker)) {
      jpeg_write_marker(&out, marker->marker, marker->data, marker->data_length);
    }
  }
  jpeg_finish_compress(&out);
  jpeg_finish_decompress(&in);
  all.written = true;
  return true;
}

}  // namespace

std::optional<std::string> rewrite_seekable(std::string_view jpeg) {
  Rewriting all;
  prepare(all.errors);
  all.in.err = &all.errors.base;
  all.out.err = &all.errors.base;
  all.progress.progress_monitor = limit_scans;
  // With a buffer of ours, libjpeg frees no memory to which `bytes` still points after an error.
  std::string buffer(2 * jpeg.size() + kLongestMarker, '\0');
  auto* const begin = reinterpret_cast<unsigned char*>(buffer.data());
  all.bytes = begin;
  all.size = buffer.size();
  const bool good = rewrite(all, jpeg);
  jpeg_destroy_compress(&all.out);
  jpeg_destroy_decompress(&all.in);
  std::optional<std::string> result;
  if (all.written) {
    result.emplace(reinterpret_cast<const char*>(all.bytes), all.size);
  }
  if (all.bytes != begin) {
    std::free(all.bytes);
  }
  if (!good) {
    throw DataError(fmt::format("cannot read the JPEG: {}", all.errors.message));
  }
  return result;
}

}  // namespace bench
