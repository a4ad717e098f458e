#pragma once

#include <fmt/core.h>

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace bench {

/// The user's mistake: names what was given and what is accepted. Exit status 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Input that cannot be used (a corrupt record, a label out of range): names file, offset and
/// reason. Exit status 2.
class DataError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A result that could not be written. Exit status 74.
class WriteError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The device or the system failed: names the call, its status and the place. Exit status 1.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Ends a wait or work, because another tower or member of a collective failed. That failure is the
/// cause to report.
class Cancelled : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// Our own mistake. Exit status 1.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws InternalError with the place unless `condition` holds. Never compiled out; keep it out of
/// inner loops.
inline void check(bool condition, std::string_view message,
                  std::source_location place = std::source_location::current()) {
  if (!condition) {
    throw InternalError(std::string(place.file_name()) + ':' + std::to_string(place.line()) + ": " +
                        std::string(message));
  }
}

}  // namespace bench
