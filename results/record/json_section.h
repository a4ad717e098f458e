#pragma once

#include <chrono>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>

#include "results/record/captured.h"

namespace bench::results {

using Json = nlohmann::ordered_json;

/// Adds members to one object of the record, and notes the reason of every null under its path.
class Section {
 public:
  Section(Json& object, Json& errors, std::string path)
      : object_(object), errors_(errors), path_(std::move(path)) {
    object_ = Json::object();
  }

  template <class T>
  void put(const std::string& name, const T& value) {
    object_[name] = value;
  }
  void put(const std::string& name, double value) {
    if (std::isfinite(value)) {
      object_[name] = value;
    } else {
      put_null(name, fmt::format("not finite: {:g}", value));
    }
  }
  void put(const std::string& name, std::chrono::nanoseconds value) {
    object_[name] = value.count();
  }
  template <class... T>
  void put(const std::string& name, const std::variant<T...>& value) {
    std::visit([&](const auto& inner) { put(name, inner); }, value);
  }
  void put(const std::string& name, std::monostate) {
    put_null(name, "not given, and has no default");
  }
  template <class T>
  void put(const std::string& name, const Captured<T>& captured) {
    if (captured.known()) {
      put(name, captured.value());
    } else {
      put_null(name, captured.why());
    }
  }

  Section child(const std::string& name) { return {object_[name], errors_, path_of(name)}; }

  /// Writes null with this reason.
  void put_null(const std::string& name, const std::string& why) {
    object_[name] = nullptr;
    errors_[path_of(name)] = why;
  }

  /// Adds a list named `name`. It has one object per item, filled by fill(section, item). In the
  /// paths of its nulls, label(item, index) names an item.
  template <class Items, class Fill, class Label>
  void put_list(const std::string& name, const Items& items, Fill fill, Label label) {
    Json list = Json::array();
    for (const auto& item : items) {
      Json object;
      Section section(object, errors_,
                      fmt::format("{}.{}", path_of(name), label(item, list.size())));
      fill(section, item);
      list.push_back(std::move(object));
    }
    object_[name] = std::move(list);
  }
  template <class Items, class Fill>
  void put_list(const std::string& name, const Items& items, Fill fill) {
    put_list(name, items, fill, [](const auto&, std::size_t index) { return index; });
  }

 private:
  std::string path_of(const std::string& name) const {
    return path_.empty() ? name : path_ + "." + name;
  }

  Json& object_;
  Json& errors_;
  std::string path_;
};

}  // namespace bench::results
