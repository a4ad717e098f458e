#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace bench::results {

/// The member at a path of names joined by dots; null if it does not exist.
const nlohmann::json* member_at(const nlohmann::json& record, std::string_view path);

/// The text at that path; empty if it does not exist.
std::string text_at(const nlohmann::json& record, std::string_view path);

/// `value` on one line, without bytes that are not UTF-8.
std::string compact(const nlohmann::json& value);

}  // namespace bench::results
