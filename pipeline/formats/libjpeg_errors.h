#pragma once

// Internal: how calls of libjpeg fail here.

#include <csetjmp>
#include <cstddef>
#include <cstdio>

#include <jpeglib.h>  // needs <cstdio> and <cstddef> before it

namespace bench {

/// libjpeg's error handler with the place to return to, by longjmp. It is the first member, so that
/// a pointer to it is a pointer to this struct. A function that sets return_point holds no object
/// with a destructor.
struct LibjpegErrors {
  jpeg_error_mgr base;
  std::jmp_buf return_point;
  char message[JMSG_LENGTH_MAX];
};

/// Prepares the handler. Data that end too early are an error; base.num_warnings counts libjpeg's
/// other warnings. Nothing is printed. Set it as the `err` of the images.
void prepare(LibjpegErrors& errors);

/// Sets the message and returns to return_point.
[[noreturn]] void fail(LibjpegErrors& errors, const char* message);

/// A progressive image with very many scans is a decompression bomb: fails on it. Set it as the
/// progress_monitor of an image that is read.
void limit_scans(j_common_ptr info);

}  // namespace bench
