#include "results/formats/json_text.h"

#include <algorithm>

#include "models/base/errors.h"
#include "models/base/text.h"

namespace bench::results {

std::string python_json(const nlohmann::ordered_json& value) {
  std::string text;
  if (value.is_object()) {
    for (const auto& [name, member] : value.items()) {
      text += cat(text.empty() ? "" : ", ", nlohmann::json(name).dump(-1, ' ', true), ": ",
                  python_json(member));
    }
    return cat("{", text, "}");
  }
  if (value.is_array()) {
    for (const auto& item : value) text += cat(text.empty() ? "" : ", ", python_json(item));
    return cat("[", text, "]");
  }
  return value.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

void bad_source(const ForeignFile& source, const std::string& why) {
  throw DataError(cat(printable(source.path.string()), ": ", why));
}

nlohmann::json parse_json(const ForeignFile& source, std::string_view text, int line) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    const std::size_t end = std::min(error.byte, text.size());
    if (text.substr(end).find_first_not_of(" \t\r\n") == std::string_view::npos &&
        error.byte >= text.size()) {
      bad_source(source, cat("line ", line + std::count(text.begin(), text.end(), '\n'),
                             ": its JSON is cut off"));
    }
    const auto* stop = text.begin() + static_cast<std::ptrdiff_t>(end);
    const std::size_t before = text.rfind('\n', end == 0 ? 0 : end - 1);
    bad_source(source,
               cat("line ", line + std::count(text.begin(), stop, '\n'), ", column ",
                   before == std::string_view::npos ? end : end - before - 1, ": is no JSON"));
  }
}

nlohmann::json parse_json(const ForeignFile& source) { return parse_json(source, source.text); }

const nlohmann::json& needed_member(const ForeignFile& source, const nlohmann::json& object,
                                    const char* name, const std::string& where,
                                    nlohmann::json::value_t type) {
  using Type = nlohmann::json::value_t;
  const char* kind = type == Type::object ? "object" : type == Type::array ? "list" : "text";
  if (!object.is_object()) bad_source(source, cat(where, " is no object"));
  const auto found = object.find(name);
  if (found == object.end()) bad_source(source, cat(where, " has no ", kind, " '", name, "'"));
  if (found->type() != type) bad_source(source, cat("'", name, "' of ", where, " is no ", kind));
  return *found;
}

double needed_number(const ForeignFile& source, const nlohmann::json& object, const char* name,
                     const std::string& where) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) {
    bad_source(source, cat(where, " has no number '", name, "'"));
  }
  return found->get<double>();
}

}  // namespace bench::results
