#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// The largest batch that --batch_size takes.
inline constexpr std::int64_t kLargestBatch = std::int64_t{1} << 30;

/// What --batch_size asks for.
struct BatchRequest {
  enum class Rule : std::uint8_t {
    model,    ///< 0: the model's own
    given,    ///< one number
    list,     ///< several numbers: a run of each
    fastest,  ///< "auto"
    largest,  ///< "max"
  };
  Rule rule = Rule::model;
  /// One number of `given`, two or more different ones of `list`, in the order given.
  std::vector<std::int64_t> sizes = {};

  /// The batch is known before the run: a number or the model's own.
  [[nodiscard]] bool fixed() const { return rule == Rule::model || rule == Rule::given; }
};

/// Reads a value of --batch_size. Throws UsageError for anything but a whole number from 0, a list
/// of different ones from 1, "auto" and "max".
BatchRequest read_batch_request(const std::string& text);

/// "default", "given", "list", "auto", "max": how a record calls the rule.
std::string_view name_of(BatchRequest::Rule rule);

}  // namespace bench
