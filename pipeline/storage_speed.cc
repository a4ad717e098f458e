#include "pipeline/storage_speed.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <future>
#include <memory>

#include "models/base/errors.h"
#include "models/base/threads.h"

namespace bench {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 21U;
/// The alignment that direct reads need.
constexpr std::size_t kAlignment = 4096;

struct Free {
  void operator()(char* memory) const { std::free(memory); }
};

/// A part of a file.
struct Block {
  std::size_t file = 0;
  std::uint64_t offset = 0;
  std::size_t bytes = 0;
};

std::vector<Block> blocks_of(const std::vector<std::uint64_t>& sizes) {
  std::vector<Block> blocks;
  for (std::size_t file = 0; file < sizes.size(); ++file) {
    for (std::uint64_t offset = 0; offset < sizes[file]; offset += kBlockBytes) {
      blocks.push_back({.file = file,
                        .offset = offset,
                        .bytes = static_cast<std::size_t>(
                            std::min<std::uint64_t>(sizes[file] - offset, kBlockBytes))});
    }
  }
  return blocks;
}

int open_direct(const std::string& path) {
  return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_DIRECT);
}

std::size_t read_directly(const std::string& path, std::uint64_t offset, std::span<char> to) {
  const int file = open_direct(path);
  const ssize_t count =
      file < 0 ? -1 : ::pread(file, to.data(), to.size(), static_cast<off_t>(offset));
  const int error = errno;
  if (file >= 0) {
    ::close(file);
  }
  if (count < 0) {
    throw DataError(
        fmt::format("{}, offset {}: cannot read the file: {}", path, offset, std::strerror(error)));
  }
  return static_cast<std::size_t>(count);
}

constexpr std::array kClasses{
    StorageClass{.megabytes_per_second = 50, .name = "an SD card or a slow network"},
    StorageClass{.megabytes_per_second = 150, .name = "a hard disk"},
    StorageClass{.megabytes_per_second = 500, .name = "a SATA SSD"},
    StorageClass{.megabytes_per_second = 2000, .name = "an NVMe SSD"}};

}  // namespace

std::optional<FileReads> direct_reads(const std::vector<std::string>& all) {
  constexpr std::size_t kMostFiles = 4096;
  std::vector<std::string> files;
  const std::size_t step = all.size() / kMostFiles + 1;
  for (std::size_t i = 0; i < all.size(); i += step) {
    files.push_back(all[i]);
  }
  FileReads reads;
  for (const std::string& path : files) {
    const int file = open_direct(path);
    if (file < 0) {
      return std::nullopt;
    }
    struct stat status {};
    const bool known = ::fstat(file, &status) == 0;
    ::close(file);
    if (!known) {
      return std::nullopt;
    }
    reads.sizes.push_back(static_cast<std::uint64_t>(status.st_size));
  }
  reads.read = [files](std::size_t file, std::uint64_t offset, std::span<char> to) {
    return read_directly(files[file], offset, to);
  };
  reads.now = [] { return std::chrono::steady_clock::now().time_since_epoch(); };
  return reads;
}

double read_speed(const FileReads& reads, int concurrent, std::chrono::nanoseconds time,
                  double begin) {
  const std::vector<Block> blocks = blocks_of(reads.sizes);
  std::atomic<std::size_t> next =
      static_cast<std::size_t>(begin * static_cast<double>(blocks.size()));
  std::atomic<std::uint64_t> bytes = 0;
  const auto started = reads.now();
  const auto work = [&] {
    // Direct reads need aligned memory, and sizes that are multiples of the alignment.
    const std::unique_ptr<char, Free> memory(
        static_cast<char*>(std::aligned_alloc(kAlignment, kBlockBytes)));
    check(memory != nullptr, "no memory for a block");
    for (std::size_t i = next++;
         i < blocks.size() && reads.now() - started < time && !(reads.stopped && reads.stopped());
         i = next++) {
      const std::size_t rounded = (blocks[i].bytes + kAlignment - 1) / kAlignment * kAlignment;
      bytes += reads.read(blocks[i].file, blocks[i].offset, {memory.get(), rounded});
    }
  };
  std::vector<std::future<void>> threads;
  for (int i = 0; i < concurrent; ++i) {
    threads.push_back(start_async(work));
  }
  for (std::future<void>& thread : threads) {
    thread.get();
  }
  const double seconds = std::chrono::duration<double>(reads.now() - started).count();
  return seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
}

const StorageClass& storage_class(double bytes_per_second) {
  const auto distance = [&](const StorageClass& each) {
    return std::fabs(std::log(bytes_per_second / (each.megabytes_per_second * 1e6)));
  };
  return *std::min_element(
      kClasses.begin(), kClasses.end(),
      [&](const StorageClass& a, const StorageClass& b) { return distance(a) < distance(b); });
}

}  // namespace bench
