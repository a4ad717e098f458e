#include "models/base/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

namespace bench {

std::uint32_t crc32c(std::string_view bytes) {
  constexpr std::size_t kLongestCall = std::size_t{1} << 30U;  // ISA-L takes the length as an int
  std::uint32_t crc = 0xFFFFFFFFU;
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, std::min(bytes.size(), kLongestCall));
    // ISA-L reads only, but lacks the const in its declaration.
    auto* data = reinterpret_cast<unsigned char*>(const_cast<char*>(part.data()));
    crc = crc32_iscsi(data, static_cast<int>(part.size()), crc);
    bytes.remove_prefix(part.size());
  }
  return ~crc;
}

}  // namespace bench
