#include "pipeline/formats/jpeg_rewriter.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "pipeline/formats/libjpeg_errors.h"

namespace bench {
namespace {

constexpr int kComponents = 3;
/// All coefficients of an image are in memory at once.
constexpr std::int64_t kMostPixels = std::int64_t{1} << 25U;
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

/// Shorter intervals make decoding faster and files larger.
unsigned interval_for(unsigned mcus_per_row) {
  return mcus_per_row % 2 == 0 ? 2 : mcus_per_row % 3 == 0 ? 3 : 1;
}

/// True for the markers that libjpeg itself writes: JFIF's and Adobe's.
bool is_written_already(const jpeg_compress_struct& out, const jpeg_marker_struct& marker) {
  const auto begins = [&](const char* name, unsigned length) {
    return marker.data_length >= length && std::memcmp(marker.data, name, length) == 0;
  };
  return (out.write_JFIF_header != 0 && marker.marker == JPEG_APP0 && begins("JFIF", 5)) ||
         (out.write_Adobe_marker != 0 && marker.marker == JPEG_APP0 + 14 && begins("Adobe", 5));
}

/// Sets `written` unless the image is not to be rewritten, or libjpeg fails.
void rewrite(Rewriting& all, std::string_view jpeg) {
  if (setjmp(all.errors.return_point) != 0) {
    return;
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
  if (in.num_components != kComponents || pixels > kMostPixels) {
    return;
  }
  jvirt_barray_ptr* const coefficients = jpeg_read_coefficients(&in);
  if (all.errors.base.num_warnings > 0) {
    return;
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
  rewrite(all, jpeg);
  jpeg_destroy_compress(&all.out);
  jpeg_destroy_decompress(&all.in);
  std::optional<std::string> result;
  if (all.written) {
    result.emplace(reinterpret_cast<const char*>(all.bytes), all.size);
  }
  if (all.bytes != begin) {
    std::free(all.bytes);
  }
  return result;
}

}  // namespace bench
