#pragma once

#include <span>
#include <string>
#include <string_view>

namespace bench {

/// What the command line asks for.
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

/// Where Debian's package dataset-fashion-mnist puts its files: the source if none is named.
inline constexpr std::string_view kFashionMnistFolder = "/usr/share/datasets/fashion-mnist";

/// The text of --help.
std::string usage();

/// Throws UsageError for what it does not know or cannot accept.
MakeOptions parse_options(std::span<const std::string_view> arguments);

}  // namespace bench
