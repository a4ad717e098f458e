#include "tools/make_tfrecords_src/options.h"

#include <algorithm>
#include <charconv>

#include "models/base/errors.h"

namespace bench {
namespace {

template <class Number>
Number parse_number(std::string_view flag, std::string_view text, Number least, Number most) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= least) ||
      !(value <= most)) {
    throw UsageError(
        fmt::format("{}={}: a number from {} to {} is accepted", flag, text, least, most));
  }
  return value;
}

constexpr int kMostShards = 500;  // all are open at once

}  // namespace

std::string usage() {
  return fmt::format(
      "make_tfrecords --output_dir=DIR [options] [SOURCE]\n"
      "\n"
      "Write TFRecord shards in ImageNet format for training and validation, and labels.txt.\n"
      "SOURCE is a folder of class folders with JPEGs, or a folder with the four idx files of\n"
      "the MNIST format. The default is {}\n"
      "(Debian package dataset-fashion-mnist).\n"
      "\n"
      "  --shards=N               training shards (8)\n"
      "  --validation_shards=N    validation shards (a quarter of the training shards)\n"
      "  --validation_fraction=F  fraction of each class folder for validation (0.1); idx files\n"
      "                           contain validation images\n"
      "  --jpeg_quality=Q         quality of the JPEGs encoded from idx files, 1 to 100 (95)\n"
      "  --overwrite              allow an output folder that is not empty\n"
      "\n"
      "Exit status: 0 success, 1 other error, 2 wrong usage or unusable image, 74 write failed.\n",
      kFashionMnistFolder);
}

MakeOptions parse_options(std::span<const std::string_view> arguments) {
  MakeOptions options;
  bool validation_shards_given = false;
  bool source_given = false;
  for (const std::string_view argument : arguments) {
    if (argument == "--help" || argument == "-h") {
      options.help = true;
      return options;
    }
    if (!argument.starts_with("-")) {
      if (source_given) {
        throw UsageError(fmt::format("two sources are given, '{}' and '{}'; give only one folder",
                                     options.source, argument));
      }
      options.source = argument;
      source_given = true;
      continue;
    }
    const std::size_t equals = std::min(argument.find('='), argument.size());
    const std::string_view flag = argument.substr(0, equals);
    const std::string_view value = argument.substr(std::min(equals + 1, argument.size()));
    if (flag == "--output_dir") {
      options.output_dir = value;
    } else if (flag == "--shards") {
      options.shards = parse_number(flag, value, 1, kMostShards);
    } else if (flag == "--validation_shards") {
      options.validation_shards = parse_number(flag, value, 1, kMostShards);
      validation_shards_given = true;
    } else if (flag == "--validation_fraction") {
      options.validation_fraction = parse_number(flag, value, 0.0, 0.9);
      options.fraction_given = true;
    } else if (flag == "--jpeg_quality") {
      options.jpeg_quality = parse_number(flag, value, 1, 100);
    } else if (argument == "--overwrite") {
      options.overwrite = true;
    } else {
      throw UsageError(fmt::format("unknown option '{}'; --help lists the options", argument));
    }
  }
  if (options.output_dir.empty()) {
    throw UsageError("--output_dir is missing; give --output_dir=DIR");
  }
  if (!source_given) {
    options.source = kFashionMnistFolder;
  }
  if (!validation_shards_given) {
    options.validation_shards = std::max(options.shards / 4, 1);
  }
  return options;
}

}  // namespace bench
