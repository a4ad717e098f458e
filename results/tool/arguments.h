#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::results {

/// An option of a command, given as --name=VALUE or --name VALUE, or by its letter: -n 8, -n8. A
/// switch takes no value.
struct Option {
  std::string_view name;
  char letter = 0;              ///< 0: no letter.
  std::string_view value{};     ///< Name of the value in the help; empty: a switch.
  std::string_view fallback{};  ///< The default value; empty: unset.
  std::string_view accepted{};  ///< Accepted values, separated by spaces; empty: any.
  bool repeatable = false;
  std::string_view meaning;
};

/// The store that a command works on. A command that needs it has this row in its table.
inline constexpr Option kStoreOption{.name = "store",
                                     .value = "PATH",
                                     .meaning =
                                         "database or folder of records; unset: $BENCH_STORE, else "
                                         "~/.local/share/bench/results.sqlite"};

/// The arguments of one command.
class Arguments {
 public:
  /// Throws UsageError for an unknown option, naming similar ones, and for a value that is missing,
  /// not accepted, or given to a switch. Everything after `--` is an operand.
  Arguments(std::string_view command, std::span<const Option> options,
            std::span<const std::string> words);

  [[nodiscard]] const std::string& command() const { return command_; }
  /// The arguments that are not options, in order.
  [[nodiscard]] const std::vector<std::string>& operands() const { return operands_; }
  /// --help was given.
  [[nodiscard]] bool help() const { return help_; }

  /// True if the option was given. Here and below, an option that the table lacks is an internal
  /// error.
  [[nodiscard]] bool has(std::string_view option) const;
  /// The value given, else the default; empty without either.
  [[nodiscard]] std::string text(std::string_view option) const;
  /// The value given, else the default, if there is one.
  [[nodiscard]] std::optional<std::string> given(std::string_view option) const;
  /// All values of a repeatable option.
  [[nodiscard]] std::vector<std::string> all(std::string_view option) const;
  /// Throw UsageError, naming the option, if its value is not such a number.
  [[nodiscard]] std::int64_t integer(std::string_view option, std::int64_t least = 0) const;
  [[nodiscard]] double number(std::string_view option) const;
  /// At least 0 and below 1; "1%" and "0.01" are the same.
  [[nodiscard]] double share(std::string_view option) const;

 private:
  const Option& row(std::string_view name) const;
  /// Parses the option `row`, spelled `spelling`. Returns how many of the following words it used.
  std::size_t take(const Option& row, const std::string& spelling,
                   const std::optional<std::string>& attached, std::span<const std::string> rest);
  std::size_t take_long(const std::string& word, std::span<const std::string> rest);
  std::size_t take_short(const std::string& word, std::span<const std::string> rest);
  [[noreturn]] void refuse_unknown(const std::string& word) const;
  [[nodiscard]] double parse_number(std::string_view option, std::string_view text,
                                    std::string_view kind) const;

  std::string command_;
  std::span<const Option> options_;
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> operands_;
  bool help_ = false;
};

}  // namespace bench::results
