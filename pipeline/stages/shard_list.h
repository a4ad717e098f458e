#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// Throws UsageError unless --data_dir=`folder` is a folder; the message says which `content` it
/// must have.
void require_folder(const std::string& folder, std::string_view content);

/// Returns the files `<prefix>-*-of-*` directly in `folder`, sorted by name; empty if there are not
/// any. An index (.idx) is not a shard. There may be fewer files than their names count. Throws
/// UsageError if the folder is missing, or if such a file is a pipe, a device, a folder or a
/// socket.
std::vector<std::string> list_shards(const std::string& folder, std::string_view prefix);

/// Returns the files whose names match a pattern of fnmatch(); otherwise like list_shards().
std::vector<std::string> list_matching_files(const std::string& folder, const std::string& pattern);

/// True for the name of a shard of either subset: train-*-of-* or validation-*-of-*, but not *.idx.
bool is_shard_name(std::string_view name);

/// The prefix of a subset's shard names: train or validation.
std::string_view shard_prefix(bool training);

/// The total size of the shards. A file whose size cannot be read counts as empty; reading it will
/// report why.
std::uint64_t total_bytes(const std::vector<std::string>& shards);

}  // namespace bench
