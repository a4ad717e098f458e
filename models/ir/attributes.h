#pragma once

#include <memory>
#include <ostream>
#include <typeinfo>

#include "models/base/errors.h"

namespace bench {

/// The attributes of a node: any struct that compares (`==`) and prints (`<<`). They have value
/// semantics behind one pointer, so that only an op's own files need its struct.
class Attributes {
 public:
  Attributes() = default;

  template <class T>
  Attributes(T value)  // NOLINT(google-explicit-constructor): an attribute struct is an Attributes
      : held_(std::make_shared<const Model<T>>(std::move(value))) {}

  /// The struct itself; throws InternalError if another type is stored.
  template <class T>
  [[nodiscard]] const T& as() const {
    const auto* model = dynamic_cast<const Model<T>*>(held_.get());
    check(model != nullptr, "attributes: the stored type is not the requested type");
    return model->value;
  }

  friend bool operator==(const Attributes& a, const Attributes& b) {
    if (a.held_ == nullptr || b.held_ == nullptr) {
      return a.held_ == b.held_;
    }
    return a.held_->equals(*b.held_);
  }

  friend std::ostream& operator<<(std::ostream& out, const Attributes& attributes) {
    if (attributes.held_ != nullptr) {
      attributes.held_->print(out);
    }
    return out;
  }

 private:
  struct Concept {
    Concept() = default;
    Concept(const Concept&) = delete;
    Concept& operator=(const Concept&) = delete;
    virtual ~Concept() = default;
    [[nodiscard]] virtual bool equals(const Concept& other) const = 0;
    virtual void print(std::ostream& out) const = 0;
  };

  template <class T>
  struct Model final : Concept {
    explicit Model(T v) : value(std::move(v)) {}
    [[nodiscard]] bool equals(const Concept& other) const override {
      const auto* same = dynamic_cast<const Model*>(&other);
      return same != nullptr && same->value == value;
    }
    void print(std::ostream& out) const override { out << value; }
    T value;
  };

  std::shared_ptr<const Concept> held_;
};

}  // namespace bench
