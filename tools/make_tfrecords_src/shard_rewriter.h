#pragma once

#include <iosfwd>
#include <string>

#include "tools/make_tfrecords_src/interrupted.h"

namespace bench {

/// Copies the shards of a folder, and its labels.txt if it has one, to another folder. Their JPEGs
/// become seekable where possible (pipeline/formats/jpeg_rewriter.h). Names, order and the other
/// features stay the same. Uses a thread per processor. The shards get their names only when all
/// are complete, and other shards in the output folder are removed. Reports progress to `progress`.
///
/// Throws UsageError for a folder without shards, for an output folder that is not empty unless
/// `overwrite`, and if both folders are the same. Throws DataError with file and offset for a
/// record that is not an Example with an image, WriteError, and Interrupted.
void rewrite_shards(const std::string& folder, const std::string& output_dir, bool overwrite,
                    std::ostream& progress, const IsInterrupted& interrupted);

}  // namespace bench
