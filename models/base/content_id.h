#pragma once

#include <memory>

namespace bench {

/// Names what some memory holds. Who owns the memory makes a fresh one whenever it writes there; so
/// who is given the same memory with the same name again knows that no byte has changed. One made
/// by default names nothing, and is not even the same as itself.
class ContentId {
 public:
  ContentId() = default;
  /// Not the same as any other that is still remembered.
  [[nodiscard]] static ContentId fresh() {
    ContentId id;
    id.token_ = std::make_shared<const char>();
    return id;
  }
  [[nodiscard]] bool same_as(const ContentId& other) const {
    return token_ != nullptr && token_ == other.token_;
  }

 private:
  /// Its address is the name; it lives as long as anybody remembers it.
  std::shared_ptr<const char> token_;
};

}  // namespace bench
