#pragma once

#include <cstdint>
#include <iosfwd>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// An option of a program or command, given as --name=VALUE or --name VALUE, or by its letter:
/// -n 8, -n8. A switch takes no value. In the name, '-' and '_' are equal.
struct Option {
  std::string_view name;
  char letter = 0;              ///< 0: no letter.
  std::string_view value{};     ///< Name of the value in the help; empty: a switch.
  std::string_view fallback{};  ///< The default value; empty: unset.
  std::string_view accepted{};  ///< Accepted values, separated by spaces; empty: any.
  bool repeatable = false;
  std::string_view meaning;
};

/// A word of the command line that starts with '-'.
struct OptionWord {
  const Option* option = nullptr;      ///< Its row; nullptr: the table has none.
  std::optional<std::string> value{};  ///< The value, if the word contains it.

  /// True if the next word is the value.
  [[nodiscard]] bool uses_next_word() const {
    return option != nullptr && !option->value.empty() && !value;
  }
};

/// Finds the row of `word`, which has at least two characters: --name, --name=VALUE, -n or -nVALUE.
OptionWord find_option(std::span<const Option> options, std::string_view word);

/// Prints the options with their meanings, accepted values and defaults.
void print_options(std::ostream& out, std::span<const Option> options);

/// The parsed arguments of a program, or of one command of it.
class Arguments {
 public:
  /// `program` is the program, with the command if there is one, for messages.
  /// Throws UsageError for an unknown option, listing similar options or all, and for a value that
  /// is missing, not accepted, or given to a switch. Everything after `--` is an operand. So is a
  /// word such as -status:failed, which negates a term of a filter. Reads no word after --help.
  Arguments(std::string_view program, std::span<const Option> options,
            std::span<const std::string> words);

  /// The arguments that are not options, in order.
  [[nodiscard]] const std::vector<std::string>& operands() const { return operands_; }
  /// Throws UsageError if there are operands.
  void refuse_operands() const;
  /// --help or -h was given.
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
  /// The same for values that are names separated by commas. Throws UsageError for an empty name.
  [[nodiscard]] std::vector<std::string> names(std::string_view option) const;
  /// Throw UsageError, naming the option, unless its value is a number from `least` to `most`.
  [[nodiscard]] std::int64_t integer(
      std::string_view option, std::int64_t least,
      std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;
  [[nodiscard]] double number(std::string_view option, double least, double most) const;
  /// At least 0 and below 1; "1%" and "0.01" are the same.
  [[nodiscard]] double share(std::string_view option) const;

 private:
  const Option& row(std::string_view name) const;
  /// Stores the value of `given`, which the user wrote as `word`.
  void take(const OptionWord& given, const std::string& word);
  /// Throws UsageError: the option's value is not `kind`.
  [[noreturn]] void refuse(std::string_view option, std::string_view kind) const;

  std::string program_;
  std::span<const Option> options_;
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> operands_;
  bool help_ = false;
};

}  // namespace bench
