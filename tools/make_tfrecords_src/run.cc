#include "tools/make_tfrecords_src/run.h"

#include <exception>
#include <filesystem>
#include <ostream>
#include <utility>

#include "models/base/errors.h"
#include "models/base/text.h"
#include "tools/make_tfrecords_src/dataset_writer.h"
#include "tools/make_tfrecords_src/index_writer.h"
#include "tools/make_tfrecords_src/options.h"
#include "tools/make_tfrecords_src/shard_rewriter.h"
#include "tools/make_tfrecords_src/source_set.h"

namespace bench {
namespace {

constexpr int kUsageStatus = 2;
constexpr int kWriteStatus = 74;

SourceSet read_source(const MakeOptions& options) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(options.source, ignored)) {
    if (options.source == kFashionMnistFolder) {
      throw UsageError(fmt::format(
          "source '{}' is not a folder; install the Debian package dataset-fashion-mnist "
          "or give another source",
          options.source));
    }
    throw UsageError(fmt::format("source '{}' is not a folder", options.source));
  }
  if (!holds_idx_files(options.source)) {
    return read_class_folders(options.source, options.validation_fraction);
  }
  if (options.seekable) {
    throw UsageError("--seekable: omit this flag for idx files; their images are greyscale");
  }
  if (options.fraction_given) {
    throw UsageError(
        "--validation_fraction: omit this flag for idx files; they contain their validation "
        "images");
  }
  return read_idx_folder(options.source, options.jpeg_quality);
}

/// Makes the indexes of the shards that were written, or of those that were given.
void make_indexes(const MakeOptions& options, std::ostream& progress,
                  const IsInterrupted& interrupted) {
  if (!options.index_dir.empty()) {
    const bool written = !options.output_dir.empty();
    write_indexes(written ? shards_in(options.output_dir, "output_dir")
                          : shards_in(options.from_tfrecords, "from_tfrecords"),
                  options.index_dir, progress, interrupted);
  }
}

}  // namespace

int make_tfrecords(std::span<const std::string> words, std::ostream& out, std::ostream& err,
                   const IsInterrupted& interrupted) {
  try {
    const MakeOptions options = parse_options(words);
    if (options.help) {
      print_usage(out);
      return 0;
    }
    if (!options.from_tfrecords.empty()) {
      if (options.seekable) {
        rewrite_shards(options.from_tfrecords, options.output_dir, options.overwrite, err,
                       interrupted);
      }
      make_indexes(options, err, interrupted);
      return 0;
    }
    SourceSet set = read_source(options);
    for (const std::string& warning : set.warnings) {
      err << "warning: " << printable(warning) << '\n';
    }
    const std::size_t classes = set.class_names.size();
    err << fmt::format("{} training and {} validation images of {}; labels are 1 to {}\n",
                       set.training.size(), set.validation.size(),
                       classes == 1 ? "1 class" : fmt::format("{} classes", classes), classes);
    write_dataset(std::move(set),
                  {.output_dir = options.output_dir,
                   .shards = options.shards,
                   .validation_shards = options.validation_shards,
                   .overwrite = options.overwrite,
                   .seekable = options.seekable,
                   .interrupted = interrupted},
                  err);
    make_indexes(options, err, interrupted);
    return 0;
  } catch (const Interrupted&) {
    err << "make_tfrecords: interrupted; incomplete files are removed\n";
    return kInterruptedStatus;
  } catch (const UsageError& error) {
    err << "make_tfrecords: " << printable(error.what()) << '\n';
    return kUsageStatus;
  } catch (const DataError& error) {
    err << "make_tfrecords: " << printable(error.what()) << '\n';
    return kUsageStatus;
  } catch (const WriteError& error) {
    err << "make_tfrecords: " << printable(error.what()) << '\n';
    return kWriteStatus;
  } catch (const std::exception& error) {
    err << "make_tfrecords: " << printable(error.what()) << '\n';
    return 1;
  }
}

}  // namespace bench
