#include "results/store/members.h"

namespace bench::results {

using nlohmann::json;

const json* member_at(const json& record, std::string_view path) {
  const json* value = &record;
  while (!path.empty()) {
    if (!value->is_object()) {
      return nullptr;
    }
    const std::size_t dot = path.find('.');
    const auto found = value->find(std::string(path.substr(0, dot)));
    if (found == value->end()) {
      return nullptr;
    }
    value = &*found;
    path = dot == std::string_view::npos ? "" : path.substr(dot + 1);
  }
  return value;
}

std::string text_at(const json& record, std::string_view path) {
  const json* value = member_at(record, path);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

std::string compact(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace bench::results
