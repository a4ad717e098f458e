#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bench {

/// Builds a serialized tf.train.Example, feature by feature, in the order of the calls.
class ExampleWriter {
 public:
  ExampleWriter& bytes(std::string_view key, std::string_view value);
  ExampleWriter& ints(std::string_view key, std::span<const std::int64_t> values);
  ExampleWriter& integer(std::string_view key, std::int64_t value);
  ExampleWriter& floats(std::string_view key, std::span<const float> values);

  /// Appends a feature as another Example has it: a serialized entry of its map.
  ExampleWriter& entry(std::string_view serialized);

  /// The message so far.
  [[nodiscard]] std::string serialize() const;

 private:
  void add(std::string_view key, int kind, std::string_view list);

  std::string entries_;
};

}  // namespace bench
