#pragma once

#include <ostream>

namespace bench::results {

/// Results go to `out`, notes and warnings to `err`.
struct Streams {
  std::ostream& out;
  std::ostream& err;
};

}  // namespace bench::results
