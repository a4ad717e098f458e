#include <cstdlib>

#include "models/base/errors.h"
#include "pipeline/formats/record_index.h"
#include "pipeline/fuzz/target.h"

/// The first two bytes are the size of the shard; the others are its index. The records of an
/// accepted index cover the shard, and written again they give the same records.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) {
    return 0;
  }
  const std::uint64_t bytes = data[0] * std::uint64_t{256} + data[1];
  const std::string_view index(reinterpret_cast<const char*>(data + 2), size - 2);
  try {
    const auto records = bench::parse_record_index(index, bytes);
    std::uint64_t end = 0;
    for (const bench::TfRecordPlace& record : records) {
      if (record.offset != end) {
        std::abort();
      }
      end += record.bytes;
    }
    const std::string text = bench::record_index_text(records);
    if (end != bytes || bench::parse_record_index(text, bytes).size() != records.size()) {
      std::abort();
    }
  } catch (const bench::DataError&) {
    return 0;  // malformed indexes end here
  }
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  using namespace std::string_literals;
  return {"\x00\x40"s + "0 20\n20 16\n36 28\n", "\x00\x00"s, "\x04\x00"s + "0 1000\n1000 24"};
}
