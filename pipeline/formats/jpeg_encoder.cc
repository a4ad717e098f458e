#include "pipeline/formats/jpeg_encoder.h"

#include <cstdlib>

#include "models/base/errors.h"
#include "pipeline/formats/libjpeg_errors.h"

namespace bench {
namespace {

/// The memory that encode() allocates; it survives the longjmp.
struct Output {
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
};

/// Errors return here by longjmp, so it holds no object with a destructor.
bool encode(jpeg_compress_struct& info, LibjpegErrors& errors, const JpegSource& source,
            const JpegEncoding& encoding, Output& output) {
  if (setjmp(errors.return_point) != 0) {
    return false;
  }
  jpeg_create_compress(&info);
  jpeg_mem_dest(&info, &output.bytes, &output.size);
  info.image_width = static_cast<JDIMENSION>(source.width);
  info.image_height = static_cast<JDIMENSION>(source.height);
  info.input_components = source.components;
  info.in_color_space = source.components == 1   ? JCS_GRAYSCALE
                        : source.components == 3 ? JCS_RGB
                                                 : JCS_CMYK;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, encoding.quality, TRUE);
  if (info.in_color_space == JCS_RGB) {
    for (std::size_t i = 0; i < encoding.sampling.size(); ++i) {
      info.comp_info[i].h_samp_factor = encoding.sampling[i].across;
      info.comp_info[i].v_samp_factor = encoding.sampling[i].down;
    }
  }
  if (encoding.progressive) {
    jpeg_simple_progression(&info);
  }
  jpeg_start_compress(&info, TRUE);
  const std::size_t row_bytes =
      static_cast<std::size_t>(source.width) * static_cast<std::size_t>(source.components);
  while (info.next_scanline < info.image_height) {
    // libjpeg does not write to its input rows, but its interface lacks the const.
    auto* row = const_cast<JSAMPROW>(source.samples.data() + info.next_scanline * row_bytes);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  return true;
}

}  // namespace

std::string encode_jpeg(const JpegSource& source, const JpegEncoding& encoding) {
  const bool fits = source.width > 0 && source.height > 0 &&
                    source.samples.size() == static_cast<std::size_t>(source.width) *
                                                 static_cast<std::size_t>(source.height) *
                                                 static_cast<std::size_t>(source.components);
  if (!fits || (source.components != 1 && source.components != 3 && source.components != 4)) {
    throw UsageError(
        fmt::format("cannot encode {} bytes as a JPEG of {} x {} pixels with {} components; 1, 3 "
                    "or 4 components are accepted",
                    source.samples.size(), source.width, source.height, source.components));
  }
  jpeg_compress_struct info{};
  LibjpegErrors errors{};
  prepare(errors);
  info.err = &errors.base;
  Output output;
  const bool good = encode(info, errors, source, encoding, output);
  jpeg_destroy_compress(&info);
  std::string jpeg;
  if (good) {
    jpeg.assign(reinterpret_cast<const char*>(output.bytes), output.size);
  }
  std::free(output.bytes);
  if (!good) {
    throw DeviceError(fmt::format("libjpeg cannot encode the image: {}", errors.message));
  }
  return jpeg;
}

}  // namespace bench
