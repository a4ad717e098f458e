#pragma once

#include <cstdint>
#include <string_view>

namespace bench {

/// CRC-32C (Castagnoli, reflected, initial value and final xor all ones) of `bytes`.
std::uint32_t crc32c(std::string_view bytes);

/// The form in which TFRecord files store a checksum: rotated and offset, so that the checksum of
/// data that holds checksums stays strong.
constexpr std::uint32_t mask_crc(std::uint32_t crc) {
  return ((crc >> 15U) | (crc << 17U)) + 0xA282EAD8U;
}

}  // namespace bench
