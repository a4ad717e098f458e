#pragma once

#include <iosfwd>
#include <string>

#include "tools/make_tfrecords_src/source_set.h"

namespace bench {

struct WriteOptions {
  std::string output_dir;
  int shards = 8;  ///< of the training images
  int validation_shards = 2;
  bool overwrite = false;  ///< allow an output folder that is not empty
};

/// Writes train-*-of-*, validation-*-of-* (none when there are no such images) and labels.txt, the
/// images in a random order that is always the same. Nothing gets its name before everything is
/// written; with `overwrite`, shards of an earlier run are replaced or removed. Reports progress to
/// `progress`. Throws UsageError (a folder that is not empty, more shards than images), DataError
/// (an image that is no JPEG), WriteError.
void write_dataset(SourceSet set, const WriteOptions& options, std::ostream& progress);

}  // namespace bench
