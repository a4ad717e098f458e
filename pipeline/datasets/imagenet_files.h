#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/input.h"
#include "pipeline/stages/record_stream.h"

namespace bench {

/// The files of a subset: shards, or else images in a folder per class.
struct ImagenetFiles {
  std::vector<std::string> shards;
  /// Compressed shards cannot be read from the middle.
  bool compressed = false;
  /// Without bytes: the images, or the records of shards that have indexes. Any of them can be read
  /// at any time. Null for other shards.
  std::shared_ptr<const std::vector<Record>> records;

  /// The number of records, or 0 if it is unknown.
  [[nodiscard]] std::int64_t record_count() const {
    return records == nullptr ? 0 : std::ssize(*records);
  }
};

/// Throws UsageError if there are neither shards nor folders with JPEGs, or too many classes. The
/// same if a shard has no index in `index_dir`, and DataError if its index does not fit.
ImagenetFiles find_imagenet_files(const InputSpec& spec, const DatasetOptions& options);

/// Shards without indexes.
ImagenetFiles unindexed_shards(std::vector<std::string> shards);

/// The records of a subset, epoch by epoch.
std::unique_ptr<RecordStream> stream_imagenet_files(const ImagenetFiles& files,
                                                    const InterleaveOptions& options,
                                                    const DatasetOptions& dataset);

/// See record_memory(); for shards without indexes.
std::size_t shard_record_memory(const std::vector<std::string>& shards,
                                const DatasetOptions& options, bool several_processes);
/// The same for all files.
std::size_t imagenet_record_memory(const DatasetOptions& options, bool several_processes);

}  // namespace bench
