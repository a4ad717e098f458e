#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

class ReaderPool;

/// The label of a record that contains its label.
inline constexpr std::int32_t kLabelInside = -1;

/// One record, or a file that is one image; copies share its bytes.
struct Record {
  std::shared_ptr<const char[]> bytes;  ///< null until load()
  std::size_t size = 0;
  std::uint32_t masked_crc = 0;             ///< of the data, not verified yet; not of a file
  std::shared_ptr<const std::string> file;  ///< the file it was read from
  std::uint64_t offset = 0;                 ///< in that file
  /// Why the record and the rest of its file cannot be read; null if they can.
  std::exception_ptr error = nullptr;
  std::int32_t label = kLabelInside;

  [[nodiscard]] std::string_view data() const { return {bytes.get(), size}; }
};

/// Reads the bytes of a record that has none and no error. A record that cannot be read gets an
/// error with `skip_bad`; without it, this throws DataError.
void load(Record& record, bool skip_bad);

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
  /// With readers: take the record of the next file in turn that is ready, so that the order
  /// depends on the readers.
  bool sloppy = false;
  std::size_t block_bytes = std::size_t{1} << 20U;
  bool load = true;  ///< false: the records have no bytes, so that the caller reads only some
  /// A file that cannot be read further gives one record with an error. false: next() throws. It
  /// always throws if it cannot read a file's first record.
  bool skip_bad_files = false;
  /// Reads ahead in each file; null: the calling thread reads each record when it is requested.
  ReaderPool* readers = nullptr;
  std::uint64_t first_epoch = 0;    ///< determines the order of the files
  std::uint64_t without_bytes = 0;  ///< with `load`: the number of records at first without bytes
};

/// The records of all shards. When a file is exhausted, the next file takes its place.
std::unique_ptr<RecordStream> interleave_shards(const std::vector<std::string>& shards,
                                                const InterleaveOptions& options);

/// The records of a list, which must not be empty, in its order.
std::unique_ptr<RecordStream> stream_records(std::shared_ptr<const std::vector<Record>> records);

/// Loads the records of a stream that have no bytes, and keeps their order. `readers`, which may be
/// null, load ahead.
std::unique_ptr<RecordStream> load_records(std::unique_ptr<RecordStream> source, bool skip_bad,
                                           ReaderPool* readers = nullptr);

/// Keeps the first epoch's records in memory and repeats them in the same order.
std::unique_ptr<RecordStream> cache_records(std::unique_ptr<RecordStream> source);

/// Repeats the first record; each epoch is that one record.
std::unique_ptr<RecordStream> repeat_first_record(std::unique_ptr<RecordStream> source);

}  // namespace bench
