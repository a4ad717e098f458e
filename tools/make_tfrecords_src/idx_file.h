#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

/// An array of unsigned bytes in the idx format of MNIST.
struct IdxFile {
  std::vector<std::int64_t> extents;
  std::string bytes;  ///< the elements, the last axis innermost
};

/// Reads an idx file, decompressing gzip. Throws DataError naming the file.
IdxFile read_idx_file(const std::string& path);

}  // namespace bench
