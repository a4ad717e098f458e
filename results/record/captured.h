#pragma once

#include <concepts>
#include <string>
#include <utility>
#include <variant>

#include "models/base/errors.h"

namespace bench {

/// Why a value is not known: one short sentence, such as "no such file: /sys/...".
struct Unknown {
  std::string why;
};

/// A value, or the reason why it is not known. A record therefore cannot hold a null without its
/// reason.
template <class T>
class Captured {
 public:
  Captured() : state_(Unknown{"not captured"}) {}
  // Implicit on purpose: `return Unknown{"why"};` and `return value;` both make one.
  Captured(Unknown unknown) : state_(std::move(unknown)) {}  // NOLINT(google-explicit-constructor)
  template <std::convertible_to<T> U>
  // NOLINTNEXTLINE(google-explicit-constructor, bugprone-forwarding-reference-overload)
  Captured(U&& value) : state_(std::in_place_type<T>, std::forward<U>(value)) {}

  bool known() const { return std::holds_alternative<T>(state_); }

  /// The value. Throws InternalError with the reason when it is not known.
  const T& value() const {
    if (!known()) {
      throw InternalError(fmt::format("value() was called on an unknown value: {}", why()));
    }
    return std::get<T>(state_);
  }

  T value_or(T other) const { return known() ? std::get<T>(state_) : std::move(other); }

  /// The reason; empty if the value is known.
  std::string why() const { return known() ? std::string() : std::get<Unknown>(state_).why; }

 private:
  std::variant<Unknown, T> state_;
};

}  // namespace bench
