#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/formats/tfrecord.h"

namespace bench {

/// An index says where the records of a TFRecord file are. It is a text file like those of DALI's
/// tfrecord2idx. Each line has the offset of a record and its size with header and footer, in
/// bytes.

/// The records of a file of `file_bytes` bytes. Throws DataError, with line and reason, unless they
/// follow one another from the beginning to the end of the file.
std::vector<TfRecordPlace> parse_record_index(std::string_view index, std::uint64_t file_bytes);

/// The path of the index of `shard`: in `folder`, with the same name and .idx added.
std::string record_index_path(const std::string& folder, const std::string& shard);

/// Throws UsageError if that file is missing.
void require_record_index(const std::string& folder, const std::string& shard);

/// Reads that index. The same, and throws DataError with its path if it is not the index of this
/// file.
std::vector<TfRecordPlace> read_record_index(const std::string& folder, const std::string& shard);

/// Finds the records of a TFRecord file by their headers. Throws DataError, also for a compressed
/// file.
std::vector<TfRecordPlace> find_records(const std::string& shard);

/// The contents of an index.
std::string record_index_text(std::span<const TfRecordPlace> records);

}  // namespace bench
