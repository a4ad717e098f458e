#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

namespace bench {

/// The options of the command line. The table in options.cc has the defaults.
struct MakeOptions {
  bool help = false;
  std::string source = {};
  std::string output_dir = {};
  int shards = 0;
  int validation_shards = 0;
  double validation_fraction = 0;
  bool fraction_given = false;
  int jpeg_quality = 0;
  bool overwrite = false;
  bool seekable = false;
  std::string from_tfrecords = {};  ///< A folder with shards: the source.
  std::string index_dir = {};
};

/// The folder of Debian's package dataset-fashion-mnist, which is the default source.
inline constexpr std::string_view kFashionMnistFolder = "/usr/share/datasets/fashion-mnist";

/// Prints the usage and the options.
void print_usage(std::ostream& out);

/// Throws UsageError for an unknown option or an invalid value.
MakeOptions parse_options(std::span<const std::string> words);

}  // namespace bench
