#include <algorithm>
#include <cstdlib>

#include "example.pb.h"
#include "models/base/errors.h"
#include "pipeline/formats/example_scanner.h"
#include "pipeline/formats/example_writer.h"
#include "pipeline/fuzz/target.h"

namespace {

using bench::FeatureView;

bool same(const FeatureView& ours, const bench::oracle::Feature& theirs) {
  const auto& bytes = theirs.bytes_list().value();
  const auto& floats = theirs.float_list().value();
  const auto& ints = theirs.int64_list().value();
  const auto same_bits = [](float a, float b) { return a == b || (a != a && b != b); };
  return std::equal(ours.bytes.begin(), ours.bytes.end(), bytes.begin(), bytes.end()) &&
         std::equal(ours.floats.begin(), ours.floats.end(), floats.begin(), floats.end(),
                    same_bits) &&
         std::equal(ours.ints.begin(), ours.ints.end(), ints.begin(), ints.end());
}

/// Whatever the bytes are, the floats are whole items.
void read_list(std::string_view message) {
  constexpr std::size_t kWidth = 2;
  std::vector<float> floats;
  try {
    bench::read_float_list(message, "d", kWidth, floats);
  } catch (const bench::DataError&) {
    return;
  }
  if (floats.size() % kWidth != 0) {
    std::abort();
  }
}

}  // namespace

/// The scanner must accept exactly what the generated parser accepts, and read the same values.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_list({reinterpret_cast<const char*>(data), size});
  const std::vector<std::string> keys = {"a", "b", "c"};
  bench::ExampleScanner scanner(keys);
  bench::oracle::RawExample example;
  const bool good = example.ParseFromArray(data, static_cast<int>(size));
  try {
    scanner.scan({reinterpret_cast<const char*>(data), size});
  } catch (const bench::DataError&) {
    if (good) {
      std::abort();
    }
    return 0;
  }
  if (!good) {
    std::abort();
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    bench::oracle::Feature last;
    for (const bench::oracle::Entry& entry : example.features().feature()) {
      if (entry.key() == keys[i]) {
        last = entry.value();
      }
    }
    if (!same(scanner.feature(i), last)) {
      std::abort();
    }
  }
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  const std::vector<float> floats = {0.5F, -2};
  const std::vector<std::int64_t> ints = {-1, 300};
  const bench::ExampleWriter writer =
      bench::ExampleWriter().bytes("a", "image").floats("b", floats).ints("c", ints);
  const std::string message = writer.serialize();
  bench::oracle::SequenceExample sequence;
  auto& list = (*sequence.mutable_feature_lists()->mutable_feature_list())["d"];
  for (int i = 0; i < 2; ++i) {
    list.add_feature()->mutable_float_list()->add_value(1);
    list.mutable_feature(i)->mutable_float_list()->add_value(2);
  }
  return {message, message + message, sequence.SerializeAsString(),
          bench::ExampleWriter().serialize(), ""};
}
