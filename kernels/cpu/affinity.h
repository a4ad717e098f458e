#pragma once

#include <vector>

namespace bench::cpu {

/// The processors that the calling thread may run on, ascending. Throws DeviceError.
std::vector<int> allowed_processors();

/// Lets the calling thread run on these processors only, and those that it starts from then on;
/// returns 0 or an errno value.
int allow_processors(const std::vector<int>& processors);

/// While it lives, the thread that made it may run on these processors, and so may those that it
/// starts, which keep them. Belongs to that thread.
class WithProcessors {
 public:
  /// Throws DeviceError.
  explicit WithProcessors(const std::vector<int>& processors);
  ~WithProcessors();
  WithProcessors(const WithProcessors&) = delete;
  WithProcessors& operator=(const WithProcessors&) = delete;

 private:
  std::vector<int> before_;
};

}  // namespace bench::cpu
