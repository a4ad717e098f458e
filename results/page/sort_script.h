#pragma once

#include <string>

namespace bench::results {

/// Makes each heading of each table a button that sorts the table by its column, up or down.
const char* sort_script();

/// What a Content-Security-Policy calls a script that it allows by its text: 'sha256-...'.
std::string script_hash(const char* script);

}  // namespace bench::results
