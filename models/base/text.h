#pragma once

#include <string>
#include <string_view>

namespace bench {

/// Returns true if the texts are equal, ignoring the case of ASCII letters.
bool equal_in_any_case(std::string_view a, std::string_view b);

/// `text`, made safe for a terminal: control characters, characters that change the direction of
/// text, and invalid UTF-8 bytes become \n, \t, \r or \x1b; everything else stays.
std::string printable(std::string_view text);

}  // namespace bench
