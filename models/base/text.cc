#include "models/base/text.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>

namespace bench {
namespace {

/// Bytes of the first UTF-8 character of `text` (RFC 3629); 0 if it is invalid.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) {
    return 1;
  }
  const std::size_t length = first >= 0xf5   ? 0
                             : first >= 0xf0 ? 4
                             : first >= 0xe0 ? 3
                             : first >= 0xc2 ? 2
                                             : 0;
  if (length == 0 || length > text.size()) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) {
      return 0;
    }
  }
  // Longer than needed, a surrogate, or beyond U+10FFFF.
  const std::uint8_t second = byte(1);
  const bool refused = (first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ||
                       (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90);
  return refused ? 0 : length;
}

/// C0, DEL, or C1 (U+0080 to U+009F, two bytes).
bool is_control(std::string_view character) {
  const auto first = static_cast<std::uint8_t>(character[0]);
  return first < 0x20 || first == 0x7f ||
         (first == 0xc2 && static_cast<std::uint8_t>(character[1]) < 0xa0);
}

/// A character that changes the direction of the text around it: U+061C, U+200E, U+200F, U+202A to
/// U+202E, U+2066 to U+2069. A name with one could look like another name.
bool turns_text(std::string_view character) {
  if (character == "\u061c") {
    return true;
  }
  if (character.size() != 3 || character[0] != '\xe2') {
    return false;
  }
  const auto second = static_cast<std::uint8_t>(character[1]);
  const auto third = static_cast<std::uint8_t>(character[2]);
  return (second == 0x80 && (third == 0x8e || third == 0x8f || (third >= 0xaa && third <= 0xae))) ||
         (second == 0x81 && third >= 0xa6 && third <= 0xa9);
}

std::string escaped(char byte) {
  switch (byte) {
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    case '\r':
      return "\\r";
    default:
      break;
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto value = static_cast<std::uint8_t>(byte);
  return {'\\', 'x', kDigits[value / 16], kDigits[value % 16]};
}

}  // namespace

bool equal_in_any_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    if (length > 0 && !is_control(character) && !turns_text(character)) {
      out += character;
    } else {
      for (const char byte : character) {
        out += escaped(byte);
      }
    }
    text.remove_prefix(character.size());
  }
  return out;
}

}  // namespace bench
