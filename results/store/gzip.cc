#include "results/store/gzip.h"

#include <zlib.h>

#include <array>

#include "models/base/errors.h"

namespace bench::results {
namespace {

constexpr int kGzipWindow = 15 + 16;  // The largest, and gzip's header: zlib.h, deflateInit2.
constexpr int kMemoryLevel = 8;       // zlib's default.

/// Runs `work` (deflate or inflate) to the end of the stream; returns its last status.
template <class Work>
int drain(z_stream& stream, std::string_view bytes, std::string& out, Work work) {
  std::array<unsigned char, 1 << 16> buffer{};
  // zlib declares its input as not const, but only reads it.
  stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  int status = Z_OK;
  while (status == Z_OK) {
    stream.next_out = buffer.data();
    stream.avail_out = static_cast<uInt>(buffer.size());
    status = work(stream);
    out.append(reinterpret_cast<const char*>(buffer.data()), buffer.size() - stream.avail_out);
  }
  return status;
}

}  // namespace

std::string gzip(std::string_view bytes) {
  z_stream stream{};
  check(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, kMemoryLevel,
                     Z_DEFAULT_STRATEGY) == Z_OK,
        "deflateInit2");
  std::string out;
  const int status =
      drain(stream, bytes, out, [](z_stream& work) { return deflate(&work, Z_FINISH); });
  deflateEnd(&stream);
  check(status == Z_STREAM_END, "deflate");
  return out;
}

std::string gunzip(std::string_view packed) {
  z_stream stream{};
  check(inflateInit2(&stream, kGzipWindow) == Z_OK, "inflateInit2");
  std::string out;
  const int status =
      drain(stream, packed, out, [](z_stream& work) { return inflate(&work, Z_NO_FLUSH); });
  inflateEnd(&stream);
  if (status != Z_STREAM_END) {
    throw DataError("a stored record is damaged: cannot decompress it");
  }
  return out;
}

}  // namespace bench::results
