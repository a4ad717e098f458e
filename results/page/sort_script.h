#pragma once

#include <string>

namespace bench::results {

/// Makes each heading of each table a button that sorts the table by its column, up or down.
const char* sort_script();

/// The Content-Security-Policy's name for a script that it allows by its text: 'sha256-...'.
std::string script_hash(const char* script);

}  // namespace bench::results
