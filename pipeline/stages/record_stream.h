#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// One record in memory of its own; copies share it.
struct Record {
  std::shared_ptr<const char[]> bytes;
  std::size_t size = 0;
  std::uint32_t masked_crc = 0;             ///< of the data, not yet compared
  std::shared_ptr<const std::string> file;  ///< where it was read
  std::uint64_t offset = 0;                 ///< in that file

  [[nodiscard]] std::string_view data() const { return {bytes.get(), size}; }
};

/// Records, epoch after epoch, for one reading thread.
class RecordStream {
 public:
  virtual ~RecordStream() = default;
  /// The next record; nothing once at the end of each epoch. An epoch holds at least one record.
  /// Waits for the disk. Throws DataError.
  virtual std::optional<Record> next() = 0;
};

struct InterleaveOptions {
  std::uint64_t seed = 0;
  bool shuffle_files = false;  ///< anew for each epoch, from the seed
  int cycle_length = 10;       ///< files read side by side, one record from each in turn
  std::size_t block_bytes = std::size_t{1} << 20U;
};

/// The records of all shards. An exhausted file's place is taken by the next file.
std::unique_ptr<RecordStream> interleave_shards(const std::vector<std::string>& shards,
                                                const InterleaveOptions& options);

/// Keeps the first epoch's records in memory and repeats them in their order.
std::unique_ptr<RecordStream> cache_records(std::unique_ptr<RecordStream> source);

/// Repeats the first record; each epoch is that one record.
std::unique_ptr<RecordStream> repeat_first_record(std::unique_ptr<RecordStream> source);

}  // namespace bench
