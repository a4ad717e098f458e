#include "tools/make_tfrecords_src/idx_file.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

#include "models/base/errors.h"

namespace bench {
namespace {

std::string read_whole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw DataError(fmt::format("{}: cannot read the file", path));
  }
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string decompress(const std::string& path, std::string& compressed) {
  inflate_state state;
  isal_inflate_init(&state);
  state.crc_flag = ISAL_GZIP;
  state.next_in = reinterpret_cast<std::uint8_t*>(compressed.data());
  state.avail_in = static_cast<std::uint32_t>(compressed.size());
  std::string out;
  std::string block(std::size_t{1} << 20U, '\0');
  while (state.block_state != ISAL_BLOCK_FINISH) {
    state.next_out = reinterpret_cast<std::uint8_t*>(block.data());
    state.avail_out = static_cast<std::uint32_t>(block.size());
    const int status = isal_inflate(&state);
    const std::size_t got = block.size() - state.avail_out;
    const bool starved = got == 0 && state.block_state != ISAL_BLOCK_FINISH;
    if (status != ISAL_DECOMP_OK || starved) {
      throw DataError(fmt::format("{}: the gzip file is damaged or incomplete (igzip status {})",
                                  path, status));
    }
    out.append(block, 0, got);
  }
  return out;
}

}  // namespace

IdxFile read_idx_file(const std::string& path) {
  std::string contents = read_whole(path);
  if (contents.starts_with("\x1f\x8b")) {
    contents = decompress(path, contents);
  }
  constexpr std::string_view kUnsignedBytes("\0\0\x08", 3);
  std::string_view rest = contents;
  if (!rest.starts_with(kUnsignedBytes) || rest.size() < 4) {
    throw DataError(fmt::format("{}: this is not an idx file of unsigned bytes", path));
  }
  const auto axes = static_cast<std::size_t>(static_cast<unsigned char>(rest[3]));
  rest.remove_prefix(4);
  IdxFile file;
  std::int64_t elements = 1;
  for (std::size_t axis = 0; axis < axes && rest.size() >= 4; ++axis) {
    std::int64_t extent = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      extent = extent << 8 | static_cast<unsigned char>(rest[i]);
    }
    rest.remove_prefix(4);
    file.extents.push_back(extent);
    // A file cannot have more elements than bytes. Stopping here prevents overflow of the product.
    elements = std::min(elements * extent, static_cast<std::int64_t>(contents.size()) + 1);
  }
  if (file.extents.size() != axes || elements != static_cast<std::int64_t>(rest.size())) {
    throw DataError(
        fmt::format("{}: the extents do not match the size of {} bytes", path, contents.size()));
  }
  file.bytes = rest;
  return file;
}

}  // namespace bench
