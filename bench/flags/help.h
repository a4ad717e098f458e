#pragma once

#include <ostream>
#include <span>
#include <string_view>

namespace bench {

/// A flag of the short help.
struct MostUsedFlag {
  std::string_view name;
  /// Empty: the values in the table.
  std::string_view meaning = {};
  /// Replaces the table's default in the short help, unless empty.
  std::string_view otherwise = {};
};

/// The flags of the short help, in its order.
std::span<const MostUsedFlag> most_used_flags();

/// Prints the output of `--help=TOPIC` in lines of less than 80 columns.
///
/// `topic` is one of these:
///
/// - "most": a description, examples and the most used flags, on one screen of 30 lines;
/// - "all": all flags, group by group;
/// - a group's word or a flag's name, in any case;
/// - another program's word or a similar name: the flags it means, or a sentence on the
///   alternative.
///
/// Within a group, supported flags precede those that have no effect or are refused. Throws
/// UsageError for another topic.
void print_help(std::ostream& out, std::string_view topic);

}  // namespace bench
