#include "pipeline/formats/libjpeg_errors.h"

#include <jerror.h>

namespace bench {
namespace {

constexpr int kMostScans = 500;

LibjpegErrors& errors_of(j_common_ptr info) { return *reinterpret_cast<LibjpegErrors*>(info->err); }

[[noreturn]] void fail_with_message(j_common_ptr info) {
  LibjpegErrors& errors = errors_of(info);
  (*errors.base.format_message)(info, errors.message);
  std::longjmp(errors.return_point, 1);
}

void on_message(j_common_ptr info, int level) {
  if (level >= 0) {
    return;  // a trace message
  }
  LibjpegErrors& errors = errors_of(info);
  // Data that end too early would otherwise decode as grey pixels.
  if (errors.base.msg_code == JWRN_JPEG_EOF || errors.base.msg_code == JWRN_HIT_MARKER) {
    fail_with_message(info);
  }
  ++errors.base.num_warnings;
}

void print_nothing(j_common_ptr /*info*/) {}

}  // namespace

void prepare(LibjpegErrors& errors) {
  jpeg_std_error(&errors.base);
  errors.base.error_exit = fail_with_message;
  errors.base.emit_message = on_message;
  errors.base.output_message = print_nothing;
}

void fail(LibjpegErrors& errors, const char* message) {
  std::snprintf(errors.message, sizeof(errors.message), "%s", message);
  std::longjmp(errors.return_point, 1);
}

void limit_scans(j_common_ptr info) {
  if (info->is_decompressor != 0 &&
      reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > kMostScans) {
    LibjpegErrors& errors = errors_of(info);
    char message[JMSG_LENGTH_MAX];
    std::snprintf(message, sizeof(message), "it has more than %d scans", kMostScans);
    fail(errors, message);
  }
}

}  // namespace bench
