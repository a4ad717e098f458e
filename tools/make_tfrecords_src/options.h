#pragma once

#include <span>
#include <string>
#include <string_view>

namespace bench {

/// The options of the command line.
struct MakeOptions {
  std::string source;
  std::string output_dir;
  int shards = 8;
  int validation_shards = 2;
  double validation_fraction = 0.1;
  bool fraction_given = false;
  int jpeg_quality = 95;
  bool overwrite = false;
  bool help = false;
};

/// The folder of Debian's package dataset-fashion-mnist, which is the default source.
inline constexpr std::string_view kFashionMnistFolder = "/usr/share/datasets/fashion-mnist";

/// The text of --help.
std::string usage();

/// Throws UsageError for an unknown option or an invalid value.
MakeOptions parse_options(std::span<const std::string_view> arguments);

}  // namespace bench
