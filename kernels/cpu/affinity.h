#pragma once

#include <string>
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

/// Where the system takes memory from that a thread is the first to write.
struct MemoryPolicy {
  /// One of the system's MPOL_..., and the nodes it is about, a bit each.
  int mode = 0;
  std::vector<unsigned long> nodes;  // NOLINT(google-runtime-int): the system's own.
};

/// While it lives, memory that the thread that made it is the first to write comes from one NUMA
/// node, as long as that has room; also for threads that it starts meanwhile, which keep it.
/// Belongs to that thread.
class MemoryOnNode {
 public:
  explicit MemoryOnNode(int node);
  ~MemoryOnNode();
  MemoryOnNode(const MemoryOnNode&) = delete;
  MemoryOnNode& operator=(const MemoryOnNode&) = delete;

  /// Why the system does not do so ("set_mempolicy: Operation not permitted"); else empty.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }

 private:
  friend class MemoryAsBefore;
  /// First: reading the other may set it.
  std::string why_not_;
  MemoryPolicy before_;
  MemoryPolicy own_;
};

/// While it lives, its thread has memory as before the other.
class MemoryAsBefore {
 public:
  explicit MemoryAsBefore(const MemoryOnNode& suspended);
  ~MemoryAsBefore();
  MemoryAsBefore(const MemoryAsBefore&) = delete;
  MemoryAsBefore& operator=(const MemoryAsBefore&) = delete;

 private:
  const MemoryOnNode& suspended_;
};

}  // namespace bench::cpu
