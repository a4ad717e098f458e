#pragma once

#include <ostream>
#include <streambuf>
#include <string>

namespace bench {

/// Writes to a descriptor in whole lines, each in one system call. What a signal handler or another
/// thread writes there thus falls between lines. std::flush writes the text after the last line's
/// end. A failed write sets the badbit of the stream. Waits for the descriptor's reader.
class LineBuffer final : public std::streambuf {
 public:
  /// `descriptor` remains the caller's.
  explicit LineBuffer(int descriptor) : descriptor_(descriptor) {}
  /// Writes the remaining text.
  ~LineBuffer() override;
  LineBuffer(const LineBuffer&) = delete;
  LineBuffer& operator=(const LineBuffer&) = delete;

 protected:
  int_type overflow(int_type letter) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  /// Writes the first `size` bytes of the buffer and removes them, written or not.
  bool write(std::size_t size);

  int descriptor_;
  std::string held_;
};

}  // namespace bench
