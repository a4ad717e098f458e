#include "pipeline/formats/compressed_file.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>

namespace bench {

namespace {

constexpr std::uint8_t kGzipStart = 0x1f;

}  // namespace

struct CompressedFile::State {
  inflate_state inflate;
};

std::optional<Compression> compression_of(std::string_view start) {
  if (start.starts_with("\x1f\x8b\x08")) {
    return Compression::gzip;
  }
  if (start.starts_with("x\x01") || start.starts_with("x^") || start.starts_with("x\x9c") ||
      start.starts_with("x\xda")) {
    return Compression::zlib;
  }
  return std::nullopt;
}

CompressedFile::CompressedFile(const InputFile& file, Compression compression)
    : file_(file),
      compression_(compression),
      state_(std::make_unique<State>()),
      compressed_(std::size_t{1} << 18U) {
  reset();
}

CompressedFile::~CompressedFile() = default;

void CompressedFile::reset() {
  inflate_state& state = state_->inflate;
  auto* const in = state.next_in;
  const std::uint32_t left = state.avail_in;
  isal_inflate_init(&state);
  state.crc_flag = compression_ == Compression::gzip ? ISAL_GZIP : ISAL_ZLIB;
  state.next_in = in;
  state.avail_in = left;
}

bool CompressedFile::refill() {
  inflate_state& state = state_->inflate;
  if (state.avail_in == 0) {
    const std::size_t count =
        file_.read(reinterpret_cast<char*>(compressed_.data()), compressed_.size(), position_);
    position_ += count;
    state.next_in = compressed_.data();
    state.avail_in = static_cast<std::uint32_t>(count);
  }
  return state.avail_in > 0;
}

DataError CompressedFile::failure() const {
  if (failure_ == ISAL_INCORRECT_CHECKSUM) {
    return DataError(
        fmt::format("{}: the checksum of the compressed data does not match", file_.path()));
  }
  return DataError(fmt::format("{}: the compressed data are damaged near byte {}", file_.path(),
                               position_ - state_->inflate.avail_in));
}

std::size_t CompressedFile::read(char* to, std::size_t bytes) {
  constexpr std::size_t kMost = std::size_t{1} << 30U;
  inflate_state& state = state_->inflate;
  const auto wanted = static_cast<std::uint32_t>(std::min(bytes, kMost));
  state.next_out = reinterpret_cast<std::uint8_t*>(to);
  state.avail_out = wanted;
  if (failure_ < 0) {
    throw failure();
  }
  while (state.avail_out == wanted) {
    const bool more = refill();
    if (state.block_state == ISAL_BLOCK_FINISH) {
      // Like gzip, ignore what follows unless it is another member.
      if (!more || compression_ == Compression::zlib || *state.next_in != kGzipStart) {
        return 0;
      }
      reset();
      state.next_out = reinterpret_cast<std::uint8_t*>(to);
      state.avail_out = wanted;
    }
    const int status = isal_inflate(&state);
    failure_ = std::min(status, 0);
    // What was decompressed before a failure is used first.
    if (failure_ < 0 && state.avail_out == wanted) {
      throw failure();
    }
    const bool ended = state.block_state == ISAL_BLOCK_FINISH;
    if (!more && !ended && state.avail_out == wanted) {
      throw DataError(
          fmt::format("{}: the compressed data are truncated: the file ends after {} bytes",
                      file_.path(), position_));
    }
  }
  return wanted - state.avail_out;
}

}  // namespace bench
