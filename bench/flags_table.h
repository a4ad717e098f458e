#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

enum class FlagType { kBool, kInt64, kDouble, kString, kList };

/// The sections of the help.
enum class FlagGroup { kRun, kData, kLearning, kFp16, kVariables, kPerformance, kOutput, kOwn };

/// What became of a flag of tf_cnn_benchmarks.
enum class FlagVerdict {
  kKeep,           ///< means what it meant
  kChanged,        ///< means the nearest thing that exists here
  kIgnored,        ///< accepted, with one notice
  kNotApplicable,  ///< tied to TensorFlow: refused or noticed with the reason
  kNew,            ///< our own
};

/// The values that a flag means to allow, built or not.
struct Accepted {
  std::string_view values = {};  ///< separated by blanks; empty: not enumerated
  bool any_case = false;         ///< of `values`; the flag's value becomes the listed spelling
  bool empty_too = false;        ///< beside `values`
  bool not_empty = false;
  std::string_view words = {};  ///< of a text with a form of its own: what is accepted
  std::string_view bare = {};   ///< the value of `--flag` alone; empty: one must be given
  std::optional<double> minimum = {};
  bool minimum_excluded = false;
  std::optional<double> maximum = {};
  bool maximum_excluded = false;

  constexpr Accepted in_any_case() const {
    Accepted changed = *this;
    changed.any_case = true;
    return changed;
  }
  constexpr Accepted or_bare(std::string_view meaning) const {
    Accepted changed = *this;
    changed.bare = meaning;
    return changed;
  }
  constexpr Accepted or_empty() const {
    Accepted changed = *this;
    changed.empty_too = true;
    return changed;
  }
};

/// What this version does with the allowed values.
struct FlagSupport {
  enum class Extent { kAll, kListed, kDefaultOnly };
  Extent extent = Extent::kAll;
  std::string_view listed = {};          ///< of kListed, separated by blanks
  std::string_view not_applicable = {};  ///< why others are refused; empty: not built yet
  std::string_view no_effect = {};       ///< why the flag does nothing; said once when given
  std::string_view notice = {};          ///< another thing to say once when given

  constexpr FlagSupport because(std::string_view why) const {
    FlagSupport changed = *this;
    changed.not_applicable = why;
    return changed;
  }
  constexpr FlagSupport without_effect(std::string_view why) const {
    FlagSupport changed = *this;
    changed.no_effect = why;
    return changed;
  }
  constexpr FlagSupport noticed(std::string_view text) const {
    FlagSupport changed = *this;
    changed.notice = text;
    return changed;
  }
};

/// One flag; the table's order is that of the help.
struct FlagRow {
  FlagType type;
  std::string_view name;
  std::optional<std::string_view> default_text = {};  ///< none: unset unless given
  FlagGroup group;
  FlagVerdict verdict;
  Accepted accepted;
  FlagSupport support;
  std::string_view help;
};

/// All flags, group by group.
std::span<const FlagRow> flag_table();

/// The row called `name` (without dashes), or null.
const FlagRow* find_flag(std::string_view name);

/// A heading for the help.
std::string_view title_of(FlagGroup group);

/// The bounds of a number in words, "at least 1" or "from 0 to 1"; empty: none.
std::string describe_bounds(const Accepted& accepted);

/// What `row` accepts, in words: "a whole number at least 1"; "one of sgd, momentum".
std::string describe_accepted(const FlagRow& row);

/// Why a value is refused that the flag means to allow: "not built yet".
std::string refusal_of(const FlagSupport& support);

/// What to say once when the flag is given; empty: nothing.
std::string notice_of(const FlagSupport& support);

/// The parts of `list` between blanks; they point into it.
std::vector<std::string_view> split_words(std::string_view list);

/// The parts of `text` between separators; none for an empty text.
std::vector<std::string> split_text(std::string_view text, char separator);

/// `parts` as "a, b, c".
std::string join(std::span<const std::string_view> parts);

}  // namespace bench
