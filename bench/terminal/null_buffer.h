#pragma once

#include <streambuf>

namespace bench {

/// Takes everything that is written, and keeps nothing.
class NullBuffer final : public std::streambuf {
 protected:
  int_type overflow(int_type letter) override { return traits_type::not_eof(letter); }
  std::streamsize xsputn(const char* /*text*/, std::streamsize count) override { return count; }
};

}  // namespace bench
