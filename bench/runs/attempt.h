#pragma once

#include <exception>
#include <functional>
#include <iosfwd>
#include <stdexcept>
#include <string>

namespace bench {

/// The results are wrong: the network computes something else than it should.
class MismatchError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Executes the parts of a run in sequence; skips those that follow a failure.
class Attempt {
 public:
  /// Calls `part` unless an earlier part failed. Does not catch RunEnded, which means that the user
  /// ended the run.
  void at(const std::function<void()>& part);

  [[nodiscard]] bool succeeded() const { return !failed_; }
  /// What failed; empty without a failure.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  /// Call it after a failure. For a failed check (LossError, MismatchError), prints the reason and
  /// returns the exit status. Otherwise rethrows the failure for main.
  int end(std::ostream& err) const;

 private:
  void fail(std::string reason);

  bool failed_ = false;
  std::string reason_;
  std::exception_ptr fatal_;
};

}  // namespace bench
