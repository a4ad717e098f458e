#pragma once

#include <cstdint>
#include <string>

#include "results/record/captured.h"
#include "results/record/conditions.h"

namespace bench::results {

struct Dataset {
  std::string name{};
  /// What the input hands to the device: type of the numbers, and bytes per image.
  std::string image_type{};
  std::int64_t image_bytes = 0;
  Captured<std::int64_t> shards{};
  Captured<std::int64_t> records{};
  Captured<std::int64_t> bytes{};
  Captured<Storage> storage{};
};

/// How threads of the input spent their time, summed over the threads, in seconds.
struct ThreadSeconds {
  double work = 0;
  double processor = 0;
  double delayed = 0;
  double waited = 0;
};

/// The skipped records by reason.
struct BadRecords {
  std::int64_t file = 0;
  std::int64_t checksum = 0;
  std::int64_t fields = 0;
  std::int64_t label = 0;
  std::int64_t image = 0;
};

/// What the input did while steps were measured, and what limited it.
struct Input {
  int threads = 0;
  std::int64_t images = 0;
  std::int64_t bytes = 0;
  Captured<std::int64_t> storage_bytes{};
  int readers = 1;
  std::int64_t seekable = 0;
  BadRecords bad_records{};
  ThreadSeconds reading{};
  ThreadSeconds preparing{};
  /// Processor time in seconds.
  double parse = 0;
  double decode = 0;
  double resize = 0;
  std::string bound{};
  double device_images_per_sec = 0;
  double input_images_per_sec = 0;
};

}  // namespace bench::results
