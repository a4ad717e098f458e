#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace bench::results {

/// The member at a path of names joined by dots; null where there is none.
const nlohmann::json* member_at(const nlohmann::json& record, std::string_view path);

/// The text there; empty where there is none.
std::string text_at(const nlohmann::json& record, std::string_view path);

/// `value` on one line, without what is no UTF-8.
std::string compact(const nlohmann::json& value);

}  // namespace bench::results
