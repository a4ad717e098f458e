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
  /// Separated by blanks; empty: not enumerated. Taken in any case, the flag's value becomes the
  /// spelling that is listed here.
  std::string_view values = {};
  /// Other words for `values`, as "float32=f32 fp32=f32"; taken in any case too.
  std::string_view synonyms = {};
  bool empty_too = false;  ///< beside `values`
  /// Beside `values` the path of a file that is there: what is in it, "a file that ..."; empty: no
  /// files.
  std::string_view file_too = {};
  bool not_empty = false;
  std::string_view words = {};  ///< of a text with a form of its own: what is accepted
  /// Of such a text: throws UsageError unless it has that form.
  void (*check)(const std::string& text) = nullptr;
  std::string_view bare = {};  ///< the value of `--flag` alone; empty: one must be given
  std::optional<double> minimum = {};
  bool minimum_excluded = false;
  std::optional<double> maximum = {};
  bool maximum_excluded = false;

  constexpr Accepted or_bare(std::string_view meaning) const {
    Accepted changed = *this;
    changed.bare = meaning;
    return changed;
  }
  constexpr Accepted or_words(std::string_view other) const {
    Accepted changed = *this;
    changed.synonyms = other;
    return changed;
  }
  constexpr Accepted or_file(std::string_view what) const {
    Accepted changed = *this;
    changed.file_too = what;
    return changed;
  }
  constexpr Accepted or_empty() const {
    Accepted changed = *this;
    changed.empty_too = true;
    return changed;
  }
};

/// Another word for an enumerated value.
struct Synonym {
  std::string_view word;
  std::string_view value;
};
std::vector<Synonym> synonyms_of(const Accepted& accepted);

/// What this version does with the allowed values.
struct FlagSupport {
  enum class Extent { kAll, kListed, kDefaultOnly };
  Extent extent = Extent::kAll;
  std::string_view listed = {};          ///< of kListed, separated by blanks
  std::string_view not_applicable = {};  ///< why others are refused; empty: not built yet
  std::string_view no_effect = {};       ///< why the flag does nothing; said once when given
  std::string_view notice = {};          ///< another thing to say once when given
  std::string_view unbuilt = {};         ///< a value that `unbuilt_why` is said of
  std::string_view unbuilt_why = {};     ///< why that one is refused: "needs wings, ..."
  /// Of kDefaultOnly: a value beside the default that asks for nothing either, and so is taken.
  std::optional<std::string_view> idle_value = {};

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
  constexpr FlagSupport unless(std::string_view value) const {
    FlagSupport changed = *this;
    changed.idle_value = value;
    return changed;
  }
  constexpr FlagSupport lacking(std::string_view value, std::string_view why) const {
    FlagSupport changed = *this;
    changed.unbuilt = value;
    changed.unbuilt_why = why;
    return changed;
  }
  constexpr FlagSupport noticed(std::string_view text) const {
    FlagSupport changed = *this;
    changed.notice = text;
    return changed;
  }
};

/// One flag; the table's order is that of the help, which puts what works first in each group.
struct FlagRow {
  FlagType type;
  std::string_view name;
  std::optional<std::string_view> default_text = {};  ///< none: unset unless given
  FlagGroup group;
  FlagVerdict verdict;
  Accepted accepted;
  FlagSupport support;
  std::string_view help;
  /// The parser itself acts on the text: no member of Flags.
  bool for_parser = false;
};

/// All flags, group by group.
std::span<const FlagRow> flag_table();

/// The row called `name` (without dashes), or null.
const FlagRow* find_flag(std::string_view name);

/// All groups in the table's order.
std::span<const FlagGroup> flag_groups();

/// A heading for the help.
std::string_view title_of(FlagGroup group);

/// The group's word in --help=WORD: "data".
std::string_view word_of(FlagGroup group);

/// Whether the flag does something in this version, for some of its values at least.
bool works(const FlagRow& row);

/// The bounds of a number in words, "at least 1" or "from 0 to 1"; empty: none.
std::string describe_bounds(const Accepted& accepted);

/// What `row` accepts, in words: "a whole number at least 1"; "one of cpu, gpu".
std::string describe_accepted(const FlagRow& row);

/// Whether this version takes the enumerated value.
bool is_taken(const FlagRow& row, std::string_view value);

/// The enumerated values that can be given in this version, then in brackets those that will be
/// refused: "cpu, reference (not built yet: gpu)".
std::string describe_values(const FlagRow& row);

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
