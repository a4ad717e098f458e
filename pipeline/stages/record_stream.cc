#include "pipeline/stages/record_stream.h"

#include <algorithm>
#include <utility>

#include "models/base/errors.h"
#include "models/base/philox.h"
#include "pipeline/formats/tfrecord_reader.h"

namespace bench {
namespace {

/// A reader in the interleave cycle.
struct OpenShard {
  std::shared_ptr<const std::string> path;
  std::unique_ptr<TfRecordReader> reader;
};

std::optional<Record> read_record(OpenShard& shard) {
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

std::optional<Record> find_record(OpenShard& shard) {
  const std::optional<TfRecordPlace> place = shard.reader->skip();
  if (!place) {
    return std::nullopt;
  }
  return Record{.bytes = nullptr,
                .size = place->bytes - kTfRecordHeaderBytes - kTfRecordFooterBytes,
                .file = shard.path,
                .offset = place->offset};
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
      OpenShard& shard = cycle_[turn_];
      if (auto record = loads() ? read_record(shard) : find_record(shard)) {
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
      for (std::size_t i = order_.size(); i > 1; --i) {
        std::swap(order_[i - 1], order_[random.below(static_cast<std::uint32_t>(i))]);
      }
    }
    next_path_ = 0;
    turn_ = 0;
    records_ = 0;
    while (cycle_.size() < static_cast<std::size_t>(options_.cycle_length) &&
           next_path_ < order_.size()) {
      cycle_.push_back(open_next());
    }
  }

  [[nodiscard]] bool loads() const { return options_.load && without_bytes_ == 0; }

  OpenShard open_next() {
    auto path = order_[next_path_++];
    auto reader = std::make_unique<TfRecordReader>(
        *path, loads() ? options_.block_bytes : TfRecordReader::kNoBlocks);
    return {.path = std::move(path), .reader = std::move(reader)};
  }

  /// Replaces the readers of records without bytes.
  void read_in_blocks() {
    if (!options_.load) {
      return;
    }
    for (OpenShard& shard : cycle_) {
      auto reader = std::make_unique<TfRecordReader>(*shard.path, options_.block_bytes);
      reader->seek(shard.reader->offset());
      shard.reader = std::move(reader);
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

}  // namespace

void load(Record& record) {
  if (record.bytes != nullptr) {
    return;
  }
  OpenShard shard{
      .path = record.file,
      .reader = std::make_unique<TfRecordReader>(*record.file, TfRecordReader::kNoBlocks)};
  shard.reader->seek(record.offset);
  std::optional<Record> loaded = read_record(shard);
  if (!loaded) {
    throw DataError(
        fmt::format("{}, offset {}: the file has become shorter", *record.file, record.offset));
  }
  record = std::move(*loaded);
}

std::unique_ptr<RecordStream> interleave_shards(const std::vector<std::string>& shards,
                                                const InterleaveOptions& options) {
  check(!shards.empty() && options.cycle_length > 0,
        "interleaving needs at least one file and a cycle length of at least 1");
  return std::make_unique<InterleavedShards>(shards, options);
}

std::unique_ptr<RecordStream> cache_records(std::unique_ptr<RecordStream> source) {
  return std::make_unique<CachedRecords>(std::move(source));
}

std::unique_ptr<RecordStream> repeat_first_record(std::unique_ptr<RecordStream> source) {
  return std::make_unique<RepeatedRecord>(std::move(source));
}

}  // namespace bench
