#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "models/base/philox.h"
#include "pipeline/input.h"
#include "pipeline/stages/record_stream.h"

namespace bench {

/// A record and its place in the stream, which determines its random choices.
struct Sample {
  Record record;
  std::uint64_t epoch = 0;
  std::uint64_t index = 0;  ///< within the epoch
};

/// The random numbers of one sample for one purpose.
RandomStream sample_random(std::uint64_t seed, const Sample& sample, std::string_view purpose);

/// Puts records into their final order through a shuffle buffer: each draw takes a random record
/// from the buffer. Each epoch gives every record once. The buffer stays full at the end of an
/// epoch, because records of the next epoch fill the free places.
class SampleOrder {
 public:
  /// `capacity` 1 keeps the stream's order. The source begins with the epoch of `start`, whose
  /// first records are drawn and dropped here. Waits for the disk. Throws DataError.
  SampleOrder(std::unique_ptr<RecordStream> source, std::size_t capacity, std::uint64_t seed,
              const InputPosition& start = {});

  /// Waits for the disk. Throws DataError.
  Sample next();

 private:
  void refill();

  std::unique_ptr<RecordStream> source_;
  std::size_t capacity_;
  std::uint64_t seed_;
  std::vector<Record> held_;       ///< records of the epoch being drawn
  std::vector<Record> following_;  ///< records of the next epoch
  bool ended_ = false;             ///< the source has ended the current epoch
  bool following_ended_ = false;   ///< the source has ended the next epoch
  std::uint64_t epoch_ = 0;
  std::uint64_t index_ = 0;
  RandomStream random_;
};

}  // namespace bench
