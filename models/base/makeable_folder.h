#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace bench {

/// Why no files could be put into this folder, made with those above it where it is not there yet;
/// nothing where they could. Makes nothing. Holds for the user and the file system of now.
std::optional<std::string> why_no_folder(const std::filesystem::path& path);

}  // namespace bench
