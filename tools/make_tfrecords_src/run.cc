#include "tools/make_tfrecords_src/run.h"

#include <exception>
#include <filesystem>
#include <ostream>
#include <utility>

#include "models/base/errors.h"
#include "models/base/text.h"
#include "tools/make_tfrecords_src/dataset_writer.h"
#include "tools/make_tfrecords_src/options.h"
#include "tools/make_tfrecords_src/source_set.h"

namespace bench {
namespace {

constexpr int kUsageStatus = 2;
constexpr int kWriteStatus = 74;

SourceSet read_source(const MakeOptions& options) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(options.source, ignored)) {
    const bool by_default = options.source == kFashionMnistFolder;
    throw UsageError(cat("source '", options.source, "' is no folder",
                         by_default ? "; install Debian's package dataset-fashion-mnist or name "
                                      "another source"
                                    : ""));
  }
  if (!holds_idx_files(options.source)) {
    return read_class_folders(options.source, options.validation_fraction);
  }
  if (options.fraction_given) {
    throw UsageError(
        "--validation_fraction is for class folders; idx files bring their own "
        "validation images");
  }
  return read_idx_folder(options.source, options.jpeg_quality);
}

}  // namespace

int make_tfrecords(std::span<const std::string_view> arguments, std::ostream& out,
                   std::ostream& err) {
  try {
    const MakeOptions options = parse_options(arguments);
    if (options.help) {
      out << usage();
      return 0;
    }
    SourceSet set = read_source(options);
    err << set.training.size() << " training and " << set.validation.size()
        << " validation images of " << set.class_names.size() << " classes; labels 1 to "
        << set.class_names.size() << '\n';
    write_dataset(std::move(set),
                  {.output_dir = options.output_dir,
                   .shards = options.shards,
                   .validation_shards = options.validation_shards,
                   .overwrite = options.overwrite},
                  err);
    return 0;
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
