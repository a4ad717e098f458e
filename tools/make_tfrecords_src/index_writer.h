#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "tools/make_tfrecords_src/interrupted.h"

namespace bench {

/// The shards of both subsets in `folder`, sorted by name. Throws UsageError, naming `option`, if
/// the folder cannot be read or has none.
std::vector<std::string> shards_in(const std::string& folder, const std::string& option);

/// Writes an index (pipeline/formats/record_index.h) of each shard to `index_dir`, which it
/// creates. Replaces indexes of the same names. Throws DataError for a damaged or compressed shard,
/// WriteError and Interrupted.
void write_indexes(const std::vector<std::string>& shards, const std::string& index_dir,
                   std::ostream& progress, const IsInterrupted& interrupted);

}  // namespace bench
