#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "models/base/errors.h"
#include "pipeline/formats/tfrecord_reader.h"
#include "pipeline/formats/tfrecord_writer.h"
#include "pipeline/fuzz/target.h"

/// Reads the input as a TFRecord file. The sizes of records and framing must add up.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int file = ::memfd_create("fuzz", 0);
  if (file < 0 || ::write(file, data, size) != static_cast<ssize_t>(size)) {
    std::abort();
  }
  try {
    bench::TfRecordReader reader(fmt::format("/proc/self/fd/{}", file), 64);
    std::size_t total = 0;
    while (const auto record = reader.next()) {
      if (record->offset != total) {
        std::abort();
      }
      total += record->data.size() + 16;
      bench::check_data_crc(record->data, record->data_masked_crc);
    }
    // The offsets of a compressed file are those of its contents, and what follows them is ignored.
    if (total != size && !reader.is_compressed()) {
      std::abort();
    }
  } catch (const bench::DataError&) {
    // malformed files end here
  }
  ::close(file);
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds = {"", bench::frame_tfrecord(""), bench::frame_tfrecord("abc")};
  seeds.push_back(seeds[2] + bench::frame_tfrecord(std::string(200, 'x')) + seeds[1]);
  return seeds;
}
