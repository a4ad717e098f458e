#include "pipeline/stages/record_stream.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <future>
#include <utility>

#include "models/base/errors.h"
#include "models/base/philox.h"
#include "pipeline/bad_records.h"
#include "pipeline/formats/input_file.h"
#include "pipeline/formats/tfrecord_reader.h"
#include "pipeline/stages/reader_pool.h"

namespace bench {
namespace {

/// A file of records.
struct Shard {
  std::shared_ptr<const std::string> path;
  /// Null until the first record is read.
  std::unique_ptr<TfRecordReader> reader;
  /// Where a new reader begins.
  std::uint64_t begin = 0;
  std::uint64_t records = 0;  ///< read so far
};

/// Consecutive records of a file.
struct Chunk {
  std::deque<Record> records;
  /// What ended the reading; null after a clean end.
  std::exception_ptr error;
  /// The file has no more records.
  bool last = false;
};

std::optional<Record> read_record(Shard& shard) {
  const std::optional<TfRecordView> view = shard.reader->next();
  if (!view) {
    return std::nullopt;
  }
  auto bytes = std::make_shared_for_overwrite<char[]>(view->data.size());
  std::copy(view->data.begin(), view->data.end(), bytes.get());
  return Record{.bytes = std::move(bytes),
                .size = view->data.size(),
                .masked_crc = view->data_masked_crc,
                .file = shard.path,
                .offset = view->offset};
}

std::optional<Record> find_record(Shard& shard) {
  const std::optional<TfRecordPlace> place = shard.reader->skip();
  if (!place) {
    return std::nullopt;
  }
  return Record{.bytes = nullptr,
                .size = place->bytes - kTfRecordHeaderBytes - kTfRecordFooterBytes,
                .file = shard.path,
                .offset = place->offset};
}

struct ChunkOptions {
  std::size_t block_bytes = 0;  ///< of a new reader
  bool load = true;
  bool skip_bad_files = false;
  /// Ends the chunk; 0: after one record.
  std::size_t bytes = 0;
};

/// The number of records that follow in a file, if they are as large as those before; at least 1.
std::int64_t records_left(const Shard& shard) {
  const auto done = static_cast<double>(shard.reader->offset());
  const auto left = static_cast<double>(shard.reader->bytes_left());
  const double estimate = std::round(left / done * static_cast<double>(shard.records));
  return std::max<std::int64_t>(static_cast<std::int64_t>(estimate), 1);
}

Chunk read_chunk(Shard& shard, const ChunkOptions& options) {
  Chunk chunk;
  try {
    if (shard.reader == nullptr) {
      shard.reader = std::make_unique<TfRecordReader>(*shard.path, options.block_bytes);
      shard.reader->seek(shard.begin);
    }
    std::size_t bytes = 0;
    do {
      auto record = options.load ? read_record(shard) : find_record(shard);
      chunk.last = !record;
      if (record) {
        bytes += record->size;
        ++shard.records;
        chunk.records.push_back(std::move(*record));
      }
    } while (!chunk.last && bytes < options.bytes);
  } catch (const DataError& error) {
    chunk.last = true;
    if (options.skip_bad_files && shard.records > 0) {
      const bool open = shard.reader != nullptr;  // It may be impossible to open it again.
      chunk.records.push_back(
          {.bytes = nullptr,
           .file = shard.path,
           .offset = open ? shard.reader->offset() : shard.begin,
           .error = std::make_exception_ptr(
               BadRecordError(BadRecord::file,
                              fmt::format("{}; the remainder of the file is skipped", error.what()),
                              open ? records_left(shard) : 1))});
    } else {
      chunk.error = std::current_exception();
    }
  }
  return chunk;
}

/// A file in the interleave cycle.
struct OpenShard {
  /// The thread that reads ahead uses it, too.
  std::shared_ptr<Shard> shard;
  Chunk chunk = {};
  /// The next chunk, if it is read ahead.
  std::future<Chunk> following = {};
};

/// False if its next record is still being read.
bool is_ready(const OpenShard& shard) {
  return !shard.chunk.records.empty() || !shard.following.valid() ||
         shard.following.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

class InterleavedShards final : public RecordStream {
 public:
  InterleavedShards(const std::vector<std::string>& shards, const InterleaveOptions& options)
      : options_(options), without_bytes_(options.without_bytes), epoch_(options.first_epoch) {
    for (const std::string& path : shards) {
      paths_.push_back(std::make_shared<const std::string>(path));
    }
  }

  std::optional<Record> next() override {
    if (at_start_) {
      start_epoch();
      at_start_ = false;
    }
    while (!cycle_.empty()) {
      if (turn_ >= cycle_.size()) {
        turn_ = 0;
      }
      if (options_.sloppy) {
        turn_ = ready_turn();
      }
      if (auto record = next_of(cycle_[turn_])) {
        ++turn_;
        ++records_;
        if (without_bytes_ > 0 && --without_bytes_ == 0) {
          read_in_blocks();
        }
        return record;
      }
      if (next_path_ < order_.size()) {
        cycle_[turn_] = open_next();
      } else {
        cycle_.erase(cycle_.begin() + static_cast<std::ptrdiff_t>(turn_));
      }
    }
    if (records_ == 0) {
      throw DataError(fmt::format("{}: the dataset contains no records (files: {})",
                                  *paths_.front(), paths_.size()));
    }
    ++epoch_;
    at_start_ = true;
    return std::nullopt;
  }

 private:
  void start_epoch() {
    order_ = paths_;
    if (options_.shuffle_files) {
      RandomStream random(options_.seed ^ hash_name("file order"), epoch_);
      shuffle(order_, random);
    }
    next_path_ = 0;
    turn_ = 0;
    records_ = 0;
    while (cycle_.size() < static_cast<std::size_t>(options_.cycle_length) &&
           next_path_ < order_.size()) {
      cycle_.push_back(open_next());
    }
  }

  /// The first file in turn whose record is ready; the current file if none is.
  [[nodiscard]] std::size_t ready_turn() const {
    for (std::size_t i = 0; i < cycle_.size(); ++i) {
      const std::size_t turn = (turn_ + i) % cycle_.size();
      if (is_ready(cycle_[turn])) {
        return turn;
      }
    }
    return turn_;
  }

  [[nodiscard]] bool loads() const { return options_.load && without_bytes_ == 0; }

  OpenShard open_next() {
    OpenShard opened{.shard = std::make_shared<Shard>()};
    opened.shard->path = order_[next_path_++];
    read_ahead(opened);
    return opened;
  }

  [[nodiscard]] ChunkOptions chunk_options() const {
    const bool reads_ahead = options_.readers != nullptr && loads();
    return {.block_bytes = loads() ? options_.block_bytes : TfRecordReader::kNoBlocks,
            .load = loads(),
            .skip_bad_files = options_.skip_bad_files,
            .bytes = reads_ahead ? options_.block_bytes : 0};
  }

  void read_ahead(OpenShard& shard) {
    if (options_.readers != nullptr && loads()) {
      shard.following = options_.readers->run(
          [file = shard.shard, options = chunk_options()] { return read_chunk(*file, options); });
    }
  }

  std::optional<Record> next_of(OpenShard& shard) {
    if (shard.chunk.records.empty() && !shard.chunk.last) {
      shard.chunk = shard.following.valid() ? shard.following.get()
                                            : read_chunk(*shard.shard, chunk_options());
      if (!shard.chunk.last) {
        read_ahead(shard);
      }
    }
    std::deque<Record>& records = shard.chunk.records;
    if (!records.empty()) {
      std::optional<Record> record = std::move(records.front());
      records.pop_front();
      return record;
    }
    if (shard.chunk.error != nullptr) {
      std::rethrow_exception(shard.chunk.error);
    }
    return std::nullopt;
  }

  /// Replaces the readers of records without bytes.
  void read_in_blocks() {
    if (!options_.load) {
      return;
    }
    for (const OpenShard& open : cycle_) {
      Shard& shard = *open.shard;
      if (shard.reader != nullptr && !open.chunk.last) {
        shard.begin = shard.reader->offset();
        shard.reader.reset();
      }
    }
  }

  InterleaveOptions options_;
  std::vector<std::shared_ptr<const std::string>> paths_;
  std::vector<std::shared_ptr<const std::string>> order_;
  std::vector<OpenShard> cycle_;
  std::size_t next_path_ = 0;
  std::size_t turn_ = 0;
  std::uint64_t records_ = 0;
  /// How many of the next records have no bytes.
  std::uint64_t without_bytes_;
  std::uint64_t epoch_;
  bool at_start_ = true;
};

class ListedRecords final : public RecordStream {
 public:
  explicit ListedRecords(std::shared_ptr<const std::vector<Record>> records)
      : records_(std::move(records)) {
    check(!records_->empty(), "a stream needs records");
  }

  std::optional<Record> next() override {
    if (place_ == records_->size()) {
      place_ = 0;
      return std::nullopt;
    }
    return (*records_)[place_++];
  }

 private:
  std::shared_ptr<const std::vector<Record>> records_;
  std::size_t place_ = 0;
};

class LoadedRecords final : public RecordStream {
 public:
  LoadedRecords(std::unique_ptr<RecordStream> source, bool skip_bad, ReaderPool* readers)
      : source_(std::move(source)), skip_bad_(skip_bad), readers_(readers) {}

  std::optional<Record> next() override {
    if (readers_ == nullptr) {
      std::optional<Record> record = source_->next();
      if (record) {
        load(*record, skip_bad_);
      }
      return record;
    }
    start_loading();
    if (ahead_.empty()) {
      ended_ = false;  // The next call begins the next epoch.
      return std::nullopt;
    }
    std::future<Record> first = std::move(ahead_.front());
    ahead_.pop_front();
    return first.get();
  }

 private:
  /// Keeps two records per reader in work, to the end of the epoch.
  void start_loading() {
    while (!ended_ && ahead_.size() < 2 * static_cast<std::size_t>(readers_->threads())) {
      std::optional<Record> record = source_->next();
      ended_ = !record;
      if (record) {
        ahead_.push_back(
            readers_->run([loaded = std::move(*record), skip_bad = skip_bad_]() mutable {
              load(loaded, skip_bad);
              return std::move(loaded);
            }));
      }
    }
  }

  std::unique_ptr<RecordStream> source_;
  bool skip_bad_;
  ReaderPool* readers_;
  std::deque<std::future<Record>> ahead_;
  bool ended_ = false;
};

class CachedRecords final : public RecordStream {
 public:
  explicit CachedRecords(std::unique_ptr<RecordStream> source) : source_(std::move(source)) {}

  std::optional<Record> next() override {
    if (source_ != nullptr) {
      if (auto record = source_->next()) {
        records_.push_back(*record);
        return record;
      }
      source_.reset();
      return std::nullopt;
    }
    if (position_ == records_.size()) {
      position_ = 0;
      return std::nullopt;
    }
    return records_[position_++];
  }

 private:
  std::unique_ptr<RecordStream> source_;
  std::vector<Record> records_;
  std::size_t position_ = 0;
};

class RepeatedRecord final : public RecordStream {
 public:
  explicit RepeatedRecord(std::unique_ptr<RecordStream> source) : source_(std::move(source)) {}

  std::optional<Record> next() override {
    if (!record_) {
      record_ = source_->next();
      source_.reset();
    }
    at_end_ = !at_end_;
    return at_end_ ? record_ : std::nullopt;
  }

 private:
  std::unique_ptr<RecordStream> source_;
  std::optional<Record> record_;
  bool at_end_ = false;
};

void load_from_shard(Record& record) {
  Shard shard{.path = record.file,
              .reader = std::make_unique<TfRecordReader>(*record.file, TfRecordReader::kNoBlocks)};
  shard.reader->seek(record.offset);
  std::optional<Record> loaded = read_record(shard);
  if (!loaded) {
    throw DataError(
        fmt::format("{}, offset {}: the file has become shorter", *record.file, record.offset));
  }
  record = std::move(*loaded);
}

/// Reads a file that is one image.
void load_file(Record& record) {
  const InputFile file(*record.file);
  const std::size_t size = file.size();
  auto bytes = std::make_shared_for_overwrite<char[]>(size);
  file.read_first(bytes.get(), size);
  record.bytes = std::move(bytes);
  record.size = size;
}

}  // namespace

void load(Record& record, bool skip_bad) {
  if (record.bytes != nullptr || record.error != nullptr) {
    return;
  }
  try {
    if (record.label == kLabelInside) {
      load_from_shard(record);
    } else {
      load_file(record);
    }
  } catch (const DataError& error) {
    if (!skip_bad) {
      throw;
    }
    record.error = std::make_exception_ptr(BadRecordError(BadRecord::file, error.what()));
  }
}

std::unique_ptr<RecordStream> interleave_shards(const std::vector<std::string>& shards,
                                                const InterleaveOptions& options) {
  check(!shards.empty() && options.cycle_length > 0,
        "interleaving needs at least one file and a cycle length of at least 1");
  return std::make_unique<InterleavedShards>(shards, options);
}

std::unique_ptr<RecordStream> stream_records(std::shared_ptr<const std::vector<Record>> records) {
  return std::make_unique<ListedRecords>(std::move(records));
}

std::unique_ptr<RecordStream> load_records(std::unique_ptr<RecordStream> source, bool skip_bad,
                                           ReaderPool* readers) {
  return std::make_unique<LoadedRecords>(std::move(source), skip_bad, readers);
}

std::unique_ptr<RecordStream> cache_records(std::unique_ptr<RecordStream> source) {
  return std::make_unique<CachedRecords>(std::move(source));
}

std::unique_ptr<RecordStream> repeat_first_record(std::unique_ptr<RecordStream> source) {
  return std::make_unique<RepeatedRecord>(std::move(source));
}

}  // namespace bench
