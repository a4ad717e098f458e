#include "pipeline/datasets/imagenet_files.h"

#include <algorithm>
#include <utility>

#include "models/base/errors.h"
#include "models/base/philox.h"
#include "pipeline/datasets/class_folders.h"
#include "pipeline/formats/record_index.h"
#include "pipeline/formats/tfrecord_reader.h"
#include "pipeline/stages/shard_list.h"

namespace bench {
namespace {

/// True if the first shard can be read and is compressed, as usually all are then.
bool are_compressed(const std::vector<std::string>& shards) {
  try {
    return !shards.empty() && TfRecordReader(shards.front()).is_compressed();
  } catch (const DataError&) {
    return false;
  }
}

/// The records of the shards, by their indexes.
std::vector<Record> find_indexed_records(const std::vector<std::string>& shards,
                                         const std::string& index_dir) {
  std::vector<Record> records;
  for (const std::string& shard : shards) {
    const auto file = std::make_shared<const std::string>(shard);
    for (const TfRecordPlace& place : read_record_index(index_dir, shard)) {
      records.push_back({.bytes = nullptr,
                         .size = place.bytes - kTfRecordHeaderBytes - kTfRecordFooterBytes,
                         .file = file,
                         .offset = place.offset});
    }
  }
  if (records.empty()) {
    throw DataError(fmt::format("{}: the dataset contains no records (files: {})", shards.front(),
                                shards.size()));
  }
  return records;
}

std::vector<Record> find_images(const InputSpec& spec, const DatasetOptions& options) {
  LabelledImages found = list_labelled_images(options.data_dir, options.training);
  // Labels count from 1.
  if (found.classes + 1 - spec.first_label > spec.num_classes) {
    throw UsageError(
        fmt::format("--data_dir={}: the folder contains {} classes; use --num_classes={}",
                    options.data_dir, found.classes, found.classes + 1));
  }
  if (!options.index_dir.empty()) {
    throw UsageError(fmt::format(
        "--index_dir is for shards, but --data_dir={} contains JPEGs, which need no index; omit it",
        options.data_dir));
  }
  return std::move(found.images);
}

/// The memory for a record in addition to its data: the record itself, and the allocation of its
/// data.
constexpr std::uint64_t kBytesAroundRecord = sizeof(Record) + 32;

/// The mean size of the first records of some shards; 0 if none can be read.
std::uint64_t typical_record_bytes(const std::vector<std::string>& shards) {
  constexpr std::size_t kShards = 10;
  constexpr int kRecords = 20;
  std::uint64_t bytes = 0;
  std::uint64_t records = 0;
  const std::size_t step = std::max<std::size_t>(shards.size() / kShards, 1);
  for (std::size_t i = 0; i < shards.size(); i += step) {
    try {
      TfRecordReader reader(shards[i], TfRecordReader::kNoBlocks);
      for (int n = 0; n < kRecords; ++n) {
        const auto place = reader.skip();
        if (!place) {
          break;
        }
        bytes += place->bytes;
        ++records;
      }
    } catch (const DataError&) {
      // The run will report it.
      continue;
    }
  }
  return records > 0 ? bytes / records : 0;
}

}  // namespace

ImagenetFiles unindexed_shards(std::vector<std::string> shards) {
  const bool compressed = are_compressed(shards);
  return {.shards = std::move(shards), .compressed = compressed, .records = nullptr};
}

ImagenetFiles find_imagenet_files(const InputSpec& spec, const DatasetOptions& options) {
  ImagenetFiles files =
      unindexed_shards(list_shards(options.data_dir, shard_prefix(options.training)));
  if (!files.shards.empty() && options.index_dir.empty()) {
    return files;
  }
  if (files.compressed) {
    throw UsageError(fmt::format(
        "--index_dir: the records of compressed shards cannot be read one by one, and {} is "
        "compressed; omit the flag",
        files.shards.front()));
  }
  std::vector<Record> records = files.shards.empty()
                                    ? find_images(spec, options)
                                    : find_indexed_records(files.shards, options.index_dir);
  if (options.training) {
    // The buffer of a cache would not mix classes if their images followed one another.
    RandomStream random(spec.seed ^ hash_name("image files"), 0);
    shuffle(records, random);
  }
  files.records = std::make_shared<const std::vector<Record>>(std::move(records));
  return files;
}

std::unique_ptr<RecordStream> stream_imagenet_files(const ImagenetFiles& files,
                                                    const InterleaveOptions& options,
                                                    const DatasetOptions& dataset) {
  std::unique_ptr<RecordStream> stream;
  if (files.records == nullptr) {
    stream = interleave_shards(files.shards, options);
  } else {
    stream = stream_records(files.records);
    if (options.load && (dataset.use_caching || dataset.repeat_cached_sample)) {
      stream = load_records(std::move(stream), options.skip_bad_files,
                            dataset.repeat_cached_sample ? nullptr : options.readers);
    }
  }
  if (dataset.repeat_cached_sample) {
    stream = repeat_first_record(std::move(stream));
  }
  return dataset.use_caching ? cache_records(std::move(stream)) : std::move(stream);
}

void check_imagenet_files(const DatasetOptions& options) {
  const auto shards = list_shards(options.data_dir, shard_prefix(options.training));
  if (shards.empty()) {
    require_class_folders(options.data_dir, options.training);
  }
  for (const std::string& shard : options.index_dir.empty() ? std::vector<std::string>() : shards) {
    require_record_index(options.index_dir, shard);
  }
}

std::vector<std::string> list_imagenet_files(const DatasetOptions& options) {
  std::vector<std::string> files = list_shards(options.data_dir, shard_prefix(options.training));
  if (files.empty()) {
    for (const Record& image : list_labelled_images(options.data_dir, options.training).images) {
      files.push_back(*image.file);
    }
  }
  return files;
}

namespace {

/// A repeated record is the only one. An evaluation keeps none, unless it caches them.
bool keeps_no_records(const DatasetOptions& options) {
  return options.repeat_cached_sample || !(options.training || options.use_caching);
}

}  // namespace

std::size_t shard_record_memory(const std::vector<std::string>& shards,
                                const DatasetOptions& options, bool several_processes) {
  if (keeps_no_records(options)) {
    return 0;
  }
  const std::uint64_t all = total_bytes(shards);
  const std::uint64_t blocks =
      TfRecordReader::kDefaultBlockBytes *
      std::min<std::uint64_t>(static_cast<std::uint64_t>(options.interleave_cycle), shards.size());
  if (options.use_caching) {
    return blocks + all;
  }
  // Other processes' records are only found, not read.
  if (several_processes && !are_compressed(shards)) {
    return blocks;
  }
  return blocks + std::min(all, static_cast<std::uint64_t>(options.shuffle_buffer) *
                                    (typical_record_bytes(shards) + kBytesAroundRecord));
}

std::size_t imagenet_record_memory(const DatasetOptions& options, bool several_processes) {
  if (keeps_no_records(options)) {
    return 0;
  }
  const std::vector<std::string> shards =
      list_shards(options.data_dir, shard_prefix(options.training));
  if (shards.empty()) {
    if (!options.use_caching) {
      return 0;
    }
    const std::vector<std::string> files = list_imagenet_files(options);
    return total_bytes(files) + files.size() * kBytesAroundRecord;
  }
  if (options.index_dir.empty() || are_compressed(shards)) {
    return shard_record_memory(shards, options, several_processes);
  }
  // The list, and the order or the cache.
  const std::uint64_t records = find_indexed_records(shards, options.index_dir).size();
  return records * sizeof(Record) + (options.use_caching
                                         ? total_bytes(shards) + records * kBytesAroundRecord
                                         : records * sizeof(Record));
}

}  // namespace bench
