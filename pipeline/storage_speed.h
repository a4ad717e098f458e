#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// How to read files, and the time.
struct FileReads {
  std::vector<std::uint64_t> sizes;
  /// Reads bytes of a file, which may end earlier, and returns their number. Several threads may
  /// call it. Waits. Throws DataError.
  std::function<std::size_t(std::size_t file, std::uint64_t offset, std::span<char> to)> read;
  std::function<std::chrono::nanoseconds()> now;
  /// Ends the reads if it returns true; any thread may call it. May be empty.
  std::function<bool()> stopped = {};
};

/// Reads of some of the files that bypass the page cache. Nothing if the file system has none, or
/// if a file cannot be opened.
std::optional<FileReads> direct_reads(const std::vector<std::string>& files);

/// The speed in bytes per second of reads of 2 MiB in the order of the files, `concurrent` of them
/// at a time. Begins at a part of all bytes (0: the first, 0.5: in the middle). Ends after `time`
/// or with the last file. Starts that many threads and waits. Throws what the reads throw.
double read_speed(const FileReads& reads, int concurrent, std::chrono::nanoseconds time,
                  double begin = 0);

/// A kind of storage that users know.
struct StorageClass {
  double megabytes_per_second = 0;
  std::string_view name;
};
/// The class whose speed is closest by ratio.
const StorageClass& storage_class(double bytes_per_second);

}  // namespace bench
