#pragma once

#include <ostream>
#include <span>
#include <string_view>

namespace bench {

/// A flag of the short help.
struct MostUsedFlag {
  std::string_view name;
  std::string_view meaning;
  /// What holds where the flag is not given; empty: the table's default.
  std::string_view otherwise = {};
};

/// The flags that the short help shows, in its order.
std::span<const MostUsedFlag> most_used_flags();

/// Writes what `--help=TOPIC` shows, in lines of less than 80 columns. `topic`: "most" for what the
/// program does, examples and the flags most used, on one screen of 30 lines; "all" for all flags,
/// group by group; a group's word or a flag's name, in any case; of another program's word or a
/// near name the flags that are meant, or a sentence on what holds instead. In a group what works
/// stands before what has no effect or is not built. Throws UsageError for another topic.
void print_help(std::ostream& out, std::string_view topic);

}  // namespace bench
