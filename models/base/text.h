#pragma once

#include <string>
#include <string_view>

namespace bench {

/// Whether the texts are equal but for the case of ASCII letters.
bool equal_in_any_case(std::string_view a, std::string_view b);

/// `text` as a terminal may be given it: control characters, and bytes that are no UTF-8, are
/// written as \n, \t, \r or \x1b; everything else stays.
std::string printable(std::string_view text);

}  // namespace bench
