#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// The value of one feature of a tf.train.Example. Byte strings point into the scanned record.
struct FeatureView {
  enum class Kind : std::uint8_t { none, bytes, floats, ints };

  Kind kind = Kind::none;
  std::vector<std::string_view> bytes;
  std::vector<float> floats;
  std::vector<std::int64_t> ints;
};

/// Finds chosen features in serialized tf.train.Example messages without copying byte strings. It
/// follows the protobuf wire rules. Keys may be in any order, numbers packed or unpacked, and
/// unknown fields are skipped. Repeated `features` are merged; the last entry of a repeated key
/// wins; an empty Feature is Kind::none. One scanner serves one thread and reuses its memory.
class ExampleScanner {
 public:
  explicit ExampleScanner(std::vector<std::string> keys);

  /// Scans one message; the results refer to `message`. Throws DataError (a reason without file and
  /// offset) if the message is malformed.
  void scan(std::string_view message);

  /// What scan() found for keys[index]; valid until the next scan.
  [[nodiscard]] const FeatureView& feature(std::size_t index) const { return features_.at(index); }

 private:
  std::vector<std::string> keys_;
  std::vector<FeatureView> features_;
  FeatureView scratch_;
};

/// The floats of the feature list `name` of a tf.train.SequenceExample, whose items must have
/// `width` floats each; replaces `floats`. The context of such a message is scanned like an
/// Example. Throws DataError (a reason without file and offset).
void read_float_list(std::string_view message, std::string_view name, std::size_t width,
                     std::vector<float>& floats);

/// Returns the Example with another value of the byte-string feature `key`, which is appended if it
/// is missing. The other features are unchanged; fields that are not features are dropped. Throws
/// DataError like scan().
std::string with_bytes(std::string_view message, std::string_view key, std::string_view value);

}  // namespace bench
