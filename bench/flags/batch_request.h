#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// The largest batch that --batch_size accepts.
inline constexpr std::int64_t kLargestBatch = std::int64_t{1} << 30;

/// The value of --batch_size.
struct BatchRequest {
  enum class Rule : std::uint8_t {
    model,    ///< 0: the model's default
    given,    ///< one number
    list,     ///< several numbers: a run of each
    fastest,  ///< "auto"
    largest,  ///< "max"
  };
  Rule rule = Rule::model;
  /// One number for `given`; two or more different numbers for `list`, in the order given.
  std::vector<std::int64_t> sizes = {};

  /// True if the batch is known before the run: a number or the model's default.
  [[nodiscard]] bool fixed() const { return rule == Rule::model || rule == Rule::given; }
};

/// Parses a value of --batch_size. Accepts a whole number from 0, a list of different numbers from
/// 1, "auto" and "max". Throws UsageError for anything else.
BatchRequest read_batch_request(const std::string& text);

/// The name of the rule in a record: "default", "given", "list", "auto" or "max".
std::string_view name_of(BatchRequest::Rule rule);

}  // namespace bench
