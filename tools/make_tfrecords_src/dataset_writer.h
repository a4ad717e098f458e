#pragma once

#include <iosfwd>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "pipeline/formats/tfrecord_writer.h"
#include "tools/make_tfrecords_src/interrupted.h"
#include "tools/make_tfrecords_src/source_set.h"

namespace bench {

struct WriteOptions {
  std::string output_dir;
  int shards = 8;  ///< of the training images
  int validation_shards = 2;
  bool overwrite = false;  ///< allow an output folder that is not empty
  bool seekable = false;   ///< rewrite JPEGs, see pipeline/formats/jpeg_rewriter.h
  IsInterrupted interrupted = {};
};

/// Creates the output folder, and removes temporary shards of programs that no longer run. Throws
/// UsageError if it is not empty, unless `overwrite`.
void prepare_folder(const std::string& output_dir, bool overwrite);

/// Gives the shards their names, and removes other shards. Throws WriteError.
void finish_shards(const std::string& output_dir,
                   const std::vector<std::unique_ptr<TfRecordWriter>>& writers,
                   const std::set<std::string>& names);

/// "80 of 100 images are seekable; the others are copied: ...", as a line.
std::string seekable_text(std::size_t seekable, std::size_t all);

/// Writes train-*-of-*, validation-*-of-* (if there are validation images) and labels.txt. The
/// images are in a random order that is the same on each run. Files get their names only after
/// everything is written. With `overwrite`, replaces or removes shards of an earlier run. Reports
/// progress to `progress`.
/// Throws UsageError for a folder that is not empty or more shards than images, DataError for an
/// invalid JPEG, WriteError, and Interrupted.
void write_dataset(SourceSet set, const WriteOptions& options, std::ostream& progress);

}  // namespace bench
