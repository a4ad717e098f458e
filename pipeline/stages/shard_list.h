#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// Throws UsageError unless --data_dir=`folder` is one; it says which `content` a folder must have.
void require_folder(const std::string& folder, std::string_view content);

/// The files `<prefix>-*-of-*` directly in `folder`, sorted by name. Fewer files than the names
/// count is no error. Throws UsageError when the folder is missing or holds no such file, and
/// when one of that name is a pipe, a device, a folder or a socket.
std::vector<std::string> find_shards(const std::string& folder, std::string_view prefix);

/// The same for files of any pattern, in which * stands for any text.
std::vector<std::string> find_matching_files(const std::string& folder, const std::string& pattern);

/// What the names of a subset's shards begin with: train or validation.
std::string_view shard_prefix(bool training);

/// Their size together. A file that cannot be looked at counts as empty: reading it will say why.
std::uint64_t total_bytes(const std::vector<std::string>& shards);

}  // namespace bench
