#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// The files `<prefix>-*-of-*` directly in `folder`, sorted by name. Fewer files than the names
/// count is no error. Throws UsageError when the folder is missing or holds no such file.
std::vector<std::string> find_shards(const std::string& folder, std::string_view prefix);

}  // namespace bench
