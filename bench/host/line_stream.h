#pragma once

#include <ostream>
#include <streambuf>
#include <string>

namespace bench {

/// Writes to a descriptor in whole lines, each in one system call, so that what a signal handler or
/// another thread writes there falls between lines; std::flush writes what stands after the last
/// line's end. A failed write sets badbit of the stream above it. Waits for the descriptor's
/// reader.
class LineBuffer final : public std::streambuf {
 public:
  /// `descriptor` stays the caller's.
  explicit LineBuffer(int descriptor) : descriptor_(descriptor) {}
  /// Writes what is left.
  ~LineBuffer() override;
  LineBuffer(const LineBuffer&) = delete;
  LineBuffer& operator=(const LineBuffer&) = delete;

 protected:
  int_type overflow(int_type letter) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  /// Writes the first `size` bytes of what is held and forgets them, written or not.
  bool write(std::size_t size);

  int descriptor_;
  std::string held_;
};

}  // namespace bench
