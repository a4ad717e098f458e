#pragma once

#include <exception>
#include <functional>
#include <iosfwd>
#include <stdexcept>
#include <string>

namespace bench {

/// The run is not to be trusted: its network computes something else.
class MismatchError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Parts of a run one after the other; what comes behind a failure is left out.
class Attempt {
 public:
  /// Calls `part` unless one before it failed. RunEnded, the end that the user asks for, goes its
  /// own way.
  void at(const std::function<void()>& part);

  [[nodiscard]] bool succeeded() const { return !failed_; }
  /// What failed; empty for nothing.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  /// Of one that failed: prints the reason and returns the exit status of a check that did
  /// (LossError, MismatchError), or throws on what main tells from others.
  int end(std::ostream& err) const;

 private:
  void fail(std::string reason);

  bool failed_ = false;
  std::string reason_;
  std::exception_ptr fatal_;
};

}  // namespace bench
