#include "tools/make_tfrecords_src/options.h"

#include <algorithm>
#include <array>
#include <ostream>

#include "models/base/command_line.h"
#include "models/base/errors.h"

namespace bench {
namespace {

constexpr std::array kOptions = {
    Option{.name = "output_dir",
           .value = "DIR",
           .meaning = "folder for the shards; required unless only indexes are made"},
    Option{.name = "shards", .value = "N", .fallback = "8", .meaning = "training shards"},
    Option{.name = "validation_shards",
           .value = "N",
           .meaning = "validation shards; default: a quarter of the training shards"},
    Option{.name = "validation_fraction",
           .value = "F",
           .fallback = "0.1",
           .meaning = "fraction of each class folder for validation; idx files contain "
                      "validation images"},
    Option{.name = "jpeg_quality",
           .value = "Q",
           .fallback = "95",
           .meaning = "quality of the JPEGs encoded from idx files, 1 to 100"},
    Option{.name = "seekable",
           .meaning = "rewrite colour JPEGs without loss, so that bench decodes only the part that "
                      "a crop keeps"},
    Option{.name = "from_tfrecords",
           .value = "DIR",
           .meaning = "folder with shards, instead of SOURCE: with --seekable, rewrite them; with "
                      "--index_dir alone, make their indexes"},
    Option{.name = "index_dir",
           .value = "DIR",
           .meaning =
               "folder for an index of each shard, in the format of DALI's tfrecord2idx, for "
               "bench --index_dir"},
    Option{.name = "overwrite",
           .meaning = "replace the shards in the output folder, and remove others"},
};

/// Refuses what has no meaning with --from_tfrecords.
void check_rewriting(const Arguments& arguments, bool seekable) {
  if (arguments.text("from_tfrecords").empty()) {
    throw UsageError("--from_tfrecords is empty; give a folder with train-*-of-*");
  }
  if (!seekable && (!arguments.has("index_dir") || arguments.has("output_dir"))) {
    throw UsageError(
        "--from_tfrecords needs --seekable and --output_dir to rewrite images, or --index_dir "
        "alone to make indexes");
  }
  if (!arguments.operands().empty()) {
    throw UsageError(
        fmt::format("--from_tfrecords is the source, so omit '{}'", arguments.operands().front()));
  }
  for (const char* name : {"shards", "validation_shards", "validation_fraction", "jpeg_quality"}) {
    if (arguments.has(name)) {
      throw UsageError(
          fmt::format("--from_tfrecords keeps the shards and their labels, so omit --{}", name));
    }
  }
}

}  // namespace

void print_usage(std::ostream& out) {
  out << fmt::format(
      "make_tfrecords --output_dir=DIR [options] [SOURCE]\n"
      "make_tfrecords --from_tfrecords=DIR --index_dir=DIR\n"
      "\n"
      "Write TFRecord shards in ImageNet format for training and validation, and labels.txt.\n"
      "SOURCE is a folder of class folders with JPEGs, or a folder with the four idx files of\n"
      "the MNIST format. The default is {}\n"
      "(Debian package dataset-fashion-mnist).\n"
      "\n",
      kFashionMnistFolder);
  print_options(out, kOptions);
  out << "\n"
         "Exit status: 0 success, 1 other error, 2 wrong usage or unusable image, 74 write "
         "failed.\n";
}

MakeOptions parse_options(std::span<const std::string> words) {
  constexpr int kMostShards = 500;  // All are open at once.
  const Arguments arguments("make_tfrecords", kOptions, words);
  if (arguments.help()) {
    return {.help = true};
  }
  const std::vector<std::string>& sources = arguments.operands();
  if (sources.size() > 1) {
    throw UsageError(fmt::format("two sources are given, '{}' and '{}'; give only one folder",
                                 sources[0], sources[1]));
  }
  const auto integer = [&](std::string_view option, int most) {
    return static_cast<int>(arguments.integer(option, 1, most));
  };
  MakeOptions options{
      .source = sources.empty() ? std::string(kFashionMnistFolder) : sources[0],
      .output_dir = arguments.text("output_dir"),
      .shards = integer("shards", kMostShards),
      .validation_fraction = arguments.number("validation_fraction", 0, 0.9),
      .fraction_given = arguments.has("validation_fraction"),
      .jpeg_quality = integer("jpeg_quality", 100),
      .overwrite = arguments.has("overwrite"),
      .seekable = arguments.has("seekable"),
      .from_tfrecords = arguments.text("from_tfrecords"),
      .index_dir = arguments.text("index_dir"),
  };
  if (arguments.has("index_dir") && options.index_dir.empty()) {
    throw UsageError("--index_dir is empty; give a folder for the indexes");
  }
  if (options.overwrite && options.output_dir.empty()) {
    throw UsageError("--overwrite has no effect without --output_dir; indexes are always replaced");
  }
  if (arguments.has("from_tfrecords")) {
    check_rewriting(arguments, options.seekable);
  }
  if (options.output_dir.empty() && (options.from_tfrecords.empty() || options.seekable)) {
    throw UsageError("--output_dir is missing; give --output_dir=DIR");
  }
  options.validation_shards = arguments.has("validation_shards")
                                  ? integer("validation_shards", kMostShards)
                                  : std::max(options.shards / 4, 1);
  return options;
}

}  // namespace bench
