#pragma once

#include <map>
#include <optional>
#include <string>

#include "kernels/runtime/choices.h"

namespace bench {

struct RunSettings;

/// The choices as JSON: printed by --dump=choices, stored in records, read by --choices_file.
struct ChoicesFile {
  Choices choices;
  /// The flags by name. A run may use the choices only if its flags have the same values.
  std::map<std::string, std::string> made_for;
  bool operator==(const ChoicesFile&) const = default;
};

/// The flags of a run on which its choices depend, with defaults filled in.
std::map<std::string, std::string> flags_of_choices(const RunSettings& settings);

std::string to_text(const ChoicesFile& file);
/// Reads such a JSON text or the record of a run, which holds the same; else returns nullopt.
std::optional<ChoicesFile> parse_choices(const std::string& text);
/// Throws UsageError with the file's name if it cannot be read or holds no choices.
ChoicesFile read_choices(const std::string& path);

/// Throws UsageError with the flag's name if the choices were made for another run.
void check_choices(const RunSettings& settings);

}  // namespace bench
