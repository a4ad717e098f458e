#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "models/base/philox.h"
#include "pipeline/stages/record_stream.h"

namespace bench {

/// A record with its place in the stream, from which its random choices are drawn.
struct Sample {
  Record record;
  std::uint64_t epoch = 0;
  std::uint64_t index = 0;  ///< within the epoch
};

/// The random numbers of one sample for one purpose.
RandomStream sample_random(std::uint64_t seed, const Sample& sample, std::string_view purpose);

/// Puts records into their final order through a shuffle buffer: each draw takes a random one of
/// the records held. Each epoch gives every record once; the buffer stays full across the end of an
/// epoch, since the next epoch's records fill the places that the last one's leave.
class SampleOrder {
 public:
  /// `capacity` 1 keeps the stream's order.
  SampleOrder(std::unique_ptr<RecordStream> source, std::size_t capacity, std::uint64_t seed);

  /// Waits for the disk. Throws DataError.
  Sample next();

 private:
  void refill();

  std::unique_ptr<RecordStream> source_;
  std::size_t capacity_;
  std::uint64_t seed_;
  std::vector<Record> held_;       ///< of the epoch being drawn
  std::vector<Record> following_;  ///< of the next one
  bool ended_ = false;             ///< the source has ended the epoch being drawn
  bool following_ended_ = false;   ///< and the next one
  std::uint64_t epoch_ = 0;
  std::uint64_t index_ = 0;
  RandomStream random_;
};

}  // namespace bench
