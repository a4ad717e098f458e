#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/stages/record_stream.h"

namespace bench {

inline constexpr std::int64_t kCifarSide = 32;
inline constexpr std::int64_t kCifarChannels = 3;
/// A record is a label and the planes red, green and blue, each row by row.
inline constexpr std::size_t kCifarRecordBytes = 1 + kCifarChannels * kCifarSide * kCifarSide;

/// The files of a subset, sorted. The binary version is data_batch_*.bin or test_batch.bin. Without
/// it, the Python version is used, whose names lack .bin. Throws UsageError if there are neither.
std::vector<std::string> find_cifar10_files(const std::string& data_dir, bool training);

/// Reads all records of all files, in order. Throws DataError with file and reason for a file that
/// cannot be read or is damaged, and if they have more than 1 GiB in total.
std::vector<Record> read_cifar10_records(const std::vector<std::string>& files);

}  // namespace bench
