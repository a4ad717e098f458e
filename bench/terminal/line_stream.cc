#include "bench/terminal/line_stream.h"

#include <unistd.h>

#include <cerrno>

namespace bench {

LineBuffer::~LineBuffer() { static_cast<void>(write(held_.size())); }

LineBuffer::int_type LineBuffer::overflow(int_type letter) {
  if (traits_type::eq_int_type(letter, traits_type::eof())) {
    return traits_type::not_eof(letter);
  }
  const char text = traits_type::to_char_type(letter);
  return xsputn(&text, 1) == 1 ? letter : traits_type::eof();
}

std::streamsize LineBuffer::xsputn(const char* text, std::streamsize size) {
  held_.append(text, static_cast<std::size_t>(size));
  const std::size_t end = held_.rfind('\n');
  return end == held_.npos || write(end + 1) ? size : 0;
}

int LineBuffer::sync() { return write(held_.size()) ? 0 : -1; }

bool LineBuffer::write(std::size_t size) {
  std::size_t written = 0;
  while (written < size) {
    const ssize_t result = ::write(descriptor_, held_.data() + written, size - written);
    if (result < 0 && errno == EINTR) {
      continue;
    }
    if (result < 0) {
      break;
    }
    written += static_cast<std::size_t>(result);
  }
  held_.erase(0, size);
  return written == size;
}

}  // namespace bench
