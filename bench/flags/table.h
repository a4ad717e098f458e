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

/// How a flag of tf_cnn_benchmarks is treated.
enum class FlagVerdict {
  kKeep,           ///< has its original meaning
  kChanged,        ///< has the closest meaning possible here
  kIgnored,        ///< accepted, with one notice
  kNotApplicable,  ///< specific to TensorFlow: refused or noted, with the reason
  kNew,            ///< not in tf_cnn_benchmarks
};

/// What a flag changes.
enum class FlagEffect {
  kWorkload,    ///< what is computed; its value identifies the workload
  kMember,      ///< the same, but the record's `workload` has a member with the resolved value
  kExecution,   ///< how, where and for how long it is computed
  kOutputOnly,  ///< neither: what the run reads, prints, writes or repeats
};

/// The values that a flag is designed to accept, built or not.
struct Accepted {
  /// Separated by blanks; empty: not enumerated. Case is ignored; the value becomes the spelling in
  /// this list.
  std::string_view values = {};
  /// Synonyms for `values`, such as "float32=f32 fp32=f32"; case is ignored here too.
  std::string_view synonyms = {};
  bool empty_too = false;  ///< in addition to `values`
  /// Accepts the path of an existing file in addition to `values`. Describes its contents: "a file
  /// that ..."; empty: no files.
  std::string_view file_too = {};
  bool not_empty = false;
  std::string_view words = {};  ///< accepted form of a text with a special form
  std::string_view bare = {};   ///< the value of `--flag` alone; empty: a value is required
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

/// A synonym for an enumerated value.
struct Synonym {
  std::string_view word;
  std::string_view value;
};
std::vector<Synonym> synonyms_of(const Accepted& accepted);

/// What this version supports of the allowed values.
struct FlagSupport {
  /// Why values other than the default are refused; empty: all are accepted.
  std::string_view not_applicable = {};
  std::string_view no_effect = {};  ///< why the flag has no effect; printed once if given
  std::string_view notice = {};     ///< another notice; printed once if given
  /// A value besides the default that requests nothing either and is accepted.
  std::optional<std::string_view> idle_value = {};

  constexpr bool refuses() const { return !not_applicable.empty(); }
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
  constexpr FlagSupport noticed(std::string_view text) const {
    FlagSupport changed = *this;
    changed.notice = text;
    return changed;
  }
};

/// One flag. The table has the order of the help, which puts supported flags first in each group.
struct FlagRow {
  FlagType type;
  std::string_view name;
  std::optional<std::string_view> default_text = {};  ///< nullopt: unset unless given
  FlagGroup group;
  FlagVerdict verdict;
  FlagEffect effect;
  Accepted accepted;
  FlagSupport support;
  std::string_view help;
  /// The parser acts on the text directly, so Flags has no such member.
  bool for_parser = false;
};

/// All flags, group by group.
std::span<const FlagRow> flag_table();

/// The row with this name (without dashes), or null.
const FlagRow* find_flag(std::string_view name);

/// All groups, in the order of the table.
std::span<const FlagGroup> flag_groups();

/// A heading for the help.
std::string_view title_of(FlagGroup group);

/// The group's word in --help=WORD: "data".
std::string_view word_of(FlagGroup group);

/// True if the flag has an effect in this version, at least for some of its values.
bool works(const FlagRow& row);

/// The bounds of a number in words, "at least 1" or "from 0 to 1"; empty without bounds.
std::string describe_bounds(const Accepted& accepted);

/// The accepted values of `row` in words: "a whole number of at least 1"; "one of cpu, gpu".
std::string describe_accepted(const FlagRow& row);

/// True if this version supports the enumerated value.
bool is_taken(const FlagRow& row, std::string_view value);

/// The enumerated values that this version supports, then in parentheses those that it refuses:
/// "grpc (not applicable: grpc+mpi)".
std::string describe_values(const FlagRow& row);

/// Why an allowed value is refused: "not applicable: ...".
std::string refusal_of(const FlagSupport& support);

/// The notice to print once if the flag is given; empty without a notice.
std::string notice_of(const FlagSupport& support);

/// The words of `list`, separated by blanks; the views point into `list`.
std::vector<std::string_view> split_words(std::string_view list);

/// The parts of `text` between separators; an empty text has no parts.
std::vector<std::string> split_text(std::string_view text, char separator);

/// `parts` as "a, b, c".
std::string join(std::span<const std::string_view> parts);

}  // namespace bench
