#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// One record; copies share its memory.
struct Record {
  std::shared_ptr<const char[]> bytes;  ///< null until load()
  std::size_t size = 0;
  std::uint32_t masked_crc = 0;             ///< of the data, not verified yet
  std::shared_ptr<const std::string> file;  ///< the file it was read from
  std::uint64_t offset = 0;                 ///< in that file

  [[nodiscard]] std::string_view data() const { return {bytes.get(), size}; }
};

/// Reads the bytes of a record that has none. Throws DataError.
void load(Record& record);

/// A stream of records, epoch by epoch, for one reading thread.
class RecordStream {
 public:
  virtual ~RecordStream() = default;
  /// Returns the next record, or nothing once at the end of each epoch. An epoch holds at least one
  /// record. Waits for the disk. Throws DataError.
  virtual std::optional<Record> next() = 0;
};

struct InterleaveOptions {
  std::uint64_t seed = 0;
  bool shuffle_files = false;  ///< again for each epoch, from the seed
  int cycle_length = 10;       ///< files read in parallel, one record from each in turn
  std::size_t block_bytes = std::size_t{1} << 20U;
  bool load = true;  ///< false: the records have no bytes, so that the caller reads only some
  std::uint64_t first_epoch = 0;    ///< determines the order of the files
  std::uint64_t without_bytes = 0;  ///< with `load`: the number of records at first without bytes
};

/// The records of all shards. When a file is exhausted, the next file takes its place.
std::unique_ptr<RecordStream> interleave_shards(const std::vector<std::string>& shards,
                                                const InterleaveOptions& options);

/// Keeps the first epoch's records in memory and repeats them in the same order.
std::unique_ptr<RecordStream> cache_records(std::unique_ptr<RecordStream> source);

/// Repeats the first record; each epoch is that one record.
std::unique_ptr<RecordStream> repeat_first_record(std::unique_ptr<RecordStream> source);

}  // namespace bench
