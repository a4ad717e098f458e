#include "tools/make_tfrecords_src/shard_rewriter.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <set>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "models/base/errors.h"
#include "models/base/threads.h"
#include "pipeline/formats/example_scanner.h"
#include "pipeline/formats/jpeg_rewriter.h"
#include "pipeline/formats/tfrecord_reader.h"
#include "pipeline/formats/tfrecord_writer.h"
#include "tools/make_tfrecords_src/dataset_writer.h"
#include "tools/make_tfrecords_src/index_writer.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kImage = "image/encoded";

/// The record with a seekable JPEG; the record itself if its image cannot be seekable.
std::string rewrite_record(const TfRecordView& record, ExampleScanner& scanner, bool& seekable) {
  check_data_crc(record.data, record.data_masked_crc);
  scanner.scan(record.data);
  const FeatureView& image = scanner.feature(0);
  if (image.bytes.size() != 1) {
    throw DataError(fmt::format("{}: one byte string is required", kImage));
  }
  const auto rewritten = rewrite_seekable(image.bytes.front());
  seekable = rewritten.has_value();
  return seekable ? with_bytes(record.data, kImage, *rewritten) : std::string(record.data);
}

/// The copies are not compressed.
fs::path name_of_copy(const fs::path& shard) {
  return shard.extension() == ".gz" ? shard.stem() : shard.filename();
}

/// Throws UsageError if two shards, a compressed and an uncompressed one, would get the same copy.
void check_names(const std::vector<fs::path>& shards) {
  std::map<fs::path, fs::path> shard_of_copy;
  for (const fs::path& shard : shards) {
    const auto [other, added] = shard_of_copy.emplace(name_of_copy(shard), shard);
    if (!added) {
      throw UsageError(
          fmt::format("{} and {} would be written to the same file; remove one of them",
                      other->second.string(), shard.string()));
    }
  }
}

/// Takes shards until none is left or one failed. Any number of threads may run it.
class Rewriting {
 public:
  Rewriting(std::vector<fs::path> shards, std::string output_dir, std::ostream& progress,
            IsInterrupted interrupted)
      : shards_(std::move(shards)),
        output_dir_(std::move(output_dir)),
        progress_(progress),
        interrupted_(std::move(interrupted)),
        writers_(shards_.size()) {}

  void run() {
    try {
      while (const auto shard = take()) {
        rewrite(*shard);
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      error_ = error_ != nullptr ? error_ : std::current_exception();
    }
  }

  /// Call it after all threads have ended. Throws the first error.
  void finish() {
    if (error_ != nullptr) {
      std::rethrow_exception(error_);
    }
    std::set<std::string> names;
    for (const fs::path& shard : shards_) {
      names.insert(name_of_copy(shard));
    }
    finish_shards(output_dir_, writers_, names);
    progress_ << seekable_text(seekable_, images_);
  }

 private:
  std::optional<std::size_t> take() {
    const std::lock_guard lock(mutex_);
    return error_ == nullptr && next_ < shards_.size() ? std::optional(next_++) : std::nullopt;
  }

  void rewrite(std::size_t index) {
    const fs::path& shard = shards_[index];
    TfRecordReader reader(shard);
    writers_[index] = std::make_unique<TfRecordWriter>(fs::path(output_dir_) / name_of_copy(shard));
    TfRecordWriter& writer = *writers_[index];
    ExampleScanner scanner({kImage});
    std::size_t images = 0;
    std::size_t rewritten = 0;
    while (const auto record = reader.next()) {
      stop_if(interrupted_);
      bool seekable = false;
      try {
        writer.write(rewrite_record(*record, scanner, seekable));
      } catch (const DataError& error) {
        throw DataError(fmt::format("{}: the record at byte {}: {}", shard.string(), record->offset,
                                    error.what()));
      }
      ++images;
      rewritten += seekable ? 1 : 0;
    }
    writer.close();
    const std::lock_guard lock(mutex_);
    images_ += images;
    seekable_ += rewritten;
    ++done_;
    if (done_ * 10 / shards_.size() != (done_ - 1) * 10 / shards_.size()) {  // each tenth
      progress_ << fmt::format("{} of {} shards\n", done_, shards_.size());
    }
  }

  const std::vector<fs::path> shards_;
  const std::string output_dir_;
  std::ostream& progress_;
  const IsInterrupted interrupted_;
  std::vector<std::unique_ptr<TfRecordWriter>> writers_;  ///< of the shards
  std::mutex mutex_;
  std::size_t next_ = 0;
  std::size_t done_ = 0;
  std::size_t images_ = 0;
  std::size_t seekable_ = 0;
  std::exception_ptr error_;
};

}  // namespace

void rewrite_shards(const std::string& folder, const std::string& output_dir, bool overwrite,
                    std::ostream& progress, const IsInterrupted& interrupted) {
  const std::vector<std::string> found = shards_in(folder, "from_tfrecords");
  std::vector<fs::path> shards(found.begin(), found.end());
  std::error_code error;
  if (fs::equivalent(folder, output_dir, error)) {
    throw UsageError("--from_tfrecords and --output_dir are the same folder; give a new one");
  }
  check_names(shards);
  prepare_folder(output_dir, overwrite);
  const auto threads =
      std::min(shards.size(), static_cast<std::size_t>(std::max(usable_processors(), 1)));
  Rewriting rewriting(std::move(shards), output_dir, progress, interrupted);
  {
    std::vector<std::jthread> workers;
    for (std::size_t i = 0; i < threads; ++i) {
      workers.emplace_back([&] { rewriting.run(); });
    }
  }
  rewriting.finish();
  const fs::path labels = fs::path(folder) / "labels.txt";
  const fs::path copy = fs::path(output_dir) / "labels.txt";
  fs::remove(copy, error);
  if (fs::exists(labels, error)) {
    fs::copy_file(labels, copy, error);
    if (error) {
      throw WriteError(fmt::format("{}: {}", copy.string(), error.message()));
    }
  }
}

}  // namespace bench
