#include "results/formats/json_text.h"

#include <algorithm>

#include "models/base/errors.h"
#include "models/base/text.h"

namespace bench::results {

std::string python_json(const nlohmann::ordered_json& value) {
  std::string text;
  if (value.is_object()) {
    for (const auto& [name, member] : value.items()) {
      if (!text.empty()) text += ", ";
      text += fmt::format("{}: {}", nlohmann::json(name).dump(-1, ' ', true), python_json(member));
    }
    return "{" + text + "}";
  }
  if (value.is_array()) {
    for (const auto& item : value) {
      if (!text.empty()) text += ", ";
      text += python_json(item);
    }
    return "[" + text + "]";
  }
  return value.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

void bad_source(const ForeignFile& source, const std::string& why) {
  throw DataError(fmt::format("{}: {}", printable(source.path.string()), why));
}

nlohmann::json parse_json(const ForeignFile& source, std::string_view text, int line) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    const std::size_t end = std::min(error.byte, text.size());
    if (text.substr(end).find_first_not_of(" \t\r\n") == std::string_view::npos &&
        error.byte >= text.size()) {
      bad_source(source, fmt::format("line {}: the JSON is incomplete",
                                     line + std::count(text.begin(), text.end(), '\n')));
    }
    const auto* stop = text.begin() + static_cast<std::ptrdiff_t>(end);
    const std::size_t before = text.rfind('\n', end == 0 ? 0 : end - 1);
    bad_source(source, fmt::format("line {}, column {}: not valid JSON",
                                   line + std::count(text.begin(), stop, '\n'),
                                   before == std::string_view::npos ? end : end - before - 1));
  }
}

nlohmann::json parse_json(const ForeignFile& source) { return parse_json(source, source.text); }

const nlohmann::json& needed_member(const ForeignFile& source, const nlohmann::json& object,
                                    const char* name, const std::string& where,
                                    nlohmann::json::value_t type) {
  using Type = nlohmann::json::value_t;
  const char* kind = type == Type::object  ? "an object"
                     : type == Type::array ? "an array"
                                           : "a string";
  if (!object.is_object()) bad_source(source, fmt::format("{} is not an object", where));
  const auto found = object.find(name);
  if (found == object.end()) bad_source(source, fmt::format("{} needs {} '{}'", where, kind, name));
  if (found->type() != type) {
    bad_source(source, fmt::format("'{}' in {} is not {}", name, where, kind));
  }
  return *found;
}

double needed_number(const ForeignFile& source, const nlohmann::json& object, const char* name,
                     const std::string& where) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) {
    bad_source(source, fmt::format("{} needs a number '{}'", where, name));
  }
  return found->get<double>();
}

}  // namespace bench::results
