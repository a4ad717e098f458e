#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bench {

/// Framing of a TFRecord: u64 length, u32 masked CRC-32C of those 8 bytes, the data, u32 masked
/// CRC-32C of the data. All are little endian. Records follow one another without a file header.
inline constexpr std::size_t kTfRecordHeaderBytes = 12;
inline constexpr std::size_t kTfRecordFooterBytes = 4;

/// One record in a reader's buffer.
struct TfRecordView {
  std::string_view data;
  std::uint64_t offset = 0;           ///< of the record's first byte in its file
  std::uint32_t data_masked_crc = 0;  ///< as stored, not yet compared
};

/// Where a record is in its file, with its header and footer.
struct TfRecordPlace {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// Throws DataError unless the data match the stored checksum. The message lacks file and offset.
void check_data_crc(std::string_view data, std::uint32_t stored_masked_crc);

}  // namespace bench
