#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace bench {

/// A value in a Python pickle. Only plain data are read: nothing is imported or called.
struct PickleValue {
  using Ptr = PickleValue*;
  /// A global name, its arguments if it is called, and the state of the result, such as a NumPy
  /// array.
  struct Object {
    std::string global;
    Ptr arguments = nullptr;
    Ptr state = nullptr;
  };
  /// A list or a tuple.
  using Sequence = std::vector<Ptr>;
  /// In the order of the file.
  using Dictionary = std::vector<std::pair<Ptr, Ptr>>;
  /// None, number or bool, text or bytes (a view of the pickle), and the above.
  std::variant<std::monostate, std::int64_t, std::string_view, Sequence, Dictionary, Object> data;

  [[nodiscard]] const std::int64_t* integer() const { return std::get_if<std::int64_t>(&data); }
  [[nodiscard]] const std::string_view* text() const {
    return std::get_if<std::string_view>(&data);
  }
  [[nodiscard]] const Sequence* sequence() const { return std::get_if<Sequence>(&data); }
  [[nodiscard]] const Object* object() const { return std::get_if<Object>(&data); }
  /// The value of a key; null if the key is absent or this is not a dictionary.
  [[nodiscard]] const PickleValue* member(std::string_view key) const;
};

/// A parsed pickle of protocol 2 to 4. Protocol 2 of Python 3 stores bytes as text, which is not
/// decoded.
class Pickle {
 public:
  /// `pickle` must outlive this, since strings are views of it. Throws DataError with the offset if
  /// it is damaged, contains other kinds of values, or has more than 2^20 operations.
  explicit Pickle(std::string_view pickle);
  Pickle(const Pickle&) = delete;
  Pickle& operator=(const Pickle&) = delete;
  [[nodiscard]] const PickleValue& root() const { return *root_; }

 private:
  /// Owns all values. They refer to one another, possibly in a circle.
  std::deque<PickleValue> values_;
  PickleValue* root_ = nullptr;
};

}  // namespace bench
