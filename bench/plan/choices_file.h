#pragma once

#include <map>
#include <optional>
#include <string>

#include "kernels/runtime/choices.h"

namespace bench {

struct RunSettings;

/// What --dump=choices prints, a record holds and --choices_file reads, as JSON.
struct ChoicesFile {
  Choices choices;
  /// The flags, by their names, that have to be those of the run that the choices were made for.
  std::map<std::string, std::string> made_for;
  bool operator==(const ChoicesFile&) const = default;
};

/// The flags of a run, defaults filled in, on which its choices depend.
std::map<std::string, std::string> flags_of_choices(const RunSettings& settings);

std::string to_text(const ChoicesFile& file);
/// Of such a text or of the record of a run, which holds the same; none where it is neither.
std::optional<ChoicesFile> parse_choices(const std::string& text);
/// Throws UsageError, naming the file, where it cannot be read or is none of these.
ChoicesFile read_choices(const std::string& path);

/// Throws UsageError, naming the flag, where a run's choices were made for another one.
void check_choices(const RunSettings& settings);

}  // namespace bench
