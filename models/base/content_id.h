#pragma once

#include <memory>

namespace bench {

/// Identifies the contents of some memory. The owner of the memory creates a new ID whenever it
/// writes there. Equal memory with an equal ID therefore means that no byte has changed. A default
/// ID identifies nothing and does not even equal itself.
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
  /// Its address is the ID; it lives as long as any copy exists.
  std::shared_ptr<const char> token_;
};

}  // namespace bench
