#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "results/formats/format.h"

/// JSON as other tools write and read it.
namespace bench::results {

/// One line as Python's json.dump writes it: `{"a": 1, "b": [1.5, null]}`, ASCII only.
std::string python_json(const nlohmann::ordered_json& value);

/// Parses the JSON value in `text`, which begins in line `line` of the file. Throws DataError with
/// the place of a syntax error.
nlohmann::json parse_json(const ForeignFile& source, std::string_view text, int line = 1);
nlohmann::json parse_json(const ForeignFile& source);

/// A required member of the right type; throws DataError, naming `where` and the member.
const nlohmann::json& needed_member(const ForeignFile& source, const nlohmann::json& object,
                                    const char* name, const std::string& where,
                                    nlohmann::json::value_t type);

/// A required number.
double needed_number(const ForeignFile& source, const nlohmann::json& object, const char* name,
                     const std::string& where);

/// Throws DataError with a sentence that begins with the file's name.
[[noreturn]] void bad_source(const ForeignFile& source, const std::string& why);

}  // namespace bench::results
