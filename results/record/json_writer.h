#pragma once

#include <filesystem>
#include <memory>

#include "results/record/writer.h"

namespace bench::results {

/// Writes record_json to `path`. Throws UsageError unless a file can be made in its folder.
std::unique_ptr<RecordWriter> make_json_writer(const std::filesystem::path& path);

}  // namespace bench::results
