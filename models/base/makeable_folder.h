#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace bench {

/// Returns the reason if no files could be created in this folder, including missing parents;
/// otherwise nothing. Creates nothing. Valid for the current user and state of the file system.
std::optional<std::string> why_no_folder(const std::filesystem::path& path);

}  // namespace bench
