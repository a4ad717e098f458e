#include "tools/make_tfrecords_src/index_writer.h"

#include <filesystem>
#include <ostream>
#include <system_error>

#include "models/base/atomic_file.h"
#include "models/base/errors.h"
#include "pipeline/formats/record_index.h"
#include "pipeline/stages/shard_list.h"

namespace bench {

namespace fs = std::filesystem;

std::vector<std::string> shards_in(const std::string& folder, const std::string& option) {
  if (std::error_code error; !fs::is_directory(folder, error)) {
    throw UsageError(fmt::format("--{}={}: {}", option, folder,
                                 error ? error.message() : "this is not a folder"));
  }
  std::vector<std::string> shards = list_shards(folder, shard_prefix(/*training=*/true));
  const auto validation = list_shards(folder, shard_prefix(/*training=*/false));
  shards.insert(shards.end(), validation.begin(), validation.end());
  if (shards.empty()) {
    throw UsageError(fmt::format("--{}={}: the folder has no train-*-of-* and no validation-*-of-*",
                                 option, folder));
  }
  return shards;
}

void write_indexes(const std::vector<std::string>& shards, const std::string& index_dir,
                   std::ostream& progress, const IsInterrupted& interrupted) {
  std::error_code error;
  fs::create_directories(index_dir, error);
  if (error) {
    throw WriteError(fmt::format("{}: cannot create the folder: {}", index_dir, error.message()));
  }
  std::size_t records = 0;
  for (const std::string& shard : shards) {
    stop_if(interrupted);
    const auto found = find_records(shard);
    AtomicFile(record_index_path(index_dir, shard), "index").write(record_index_text(found));
    records += found.size();
  }
  progress << fmt::format("wrote {} index{} ({} records) to {}\n", shards.size(),
                          shards.size() == 1 ? "" : "es", records, index_dir);
}

}  // namespace bench
