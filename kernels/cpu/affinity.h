#pragma once

#include <string>
#include <vector>

namespace bench::cpu {

/// The processors that the calling thread may run on, ascending. Throws DeviceError.
std::vector<int> allowed_processors();

/// Restricts the calling thread, and threads that it starts later, to these processors. Returns 0
/// or an errno value.
int allow_processors(const std::vector<int>& processors);

/// Restricts its thread to these processors while it lives, and also threads started meanwhile,
/// which keep them. Use it only on the thread that constructed it.
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

/// Where the system allocates memory that a thread is the first to write.
struct MemoryPolicy {
  /// One of the system's MPOL_... modes, and its nodes, one bit each.
  int mode = 0;
  std::vector<unsigned long> nodes;  // NOLINT(google-runtime-int): the system's own.
};

/// While it lives, memory that its thread writes first comes from one NUMA node, as long as the
/// node has free memory. This also applies to threads started meanwhile, which keep it. Use it only
/// on the thread that constructed it.
class MemoryOnNode {
 public:
  explicit MemoryOnNode(int node);
  ~MemoryOnNode();
  MemoryOnNode(const MemoryOnNode&) = delete;
  MemoryOnNode& operator=(const MemoryOnNode&) = delete;

  /// Why the system refuses ("set_mempolicy: Operation not permitted"); otherwise empty.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }

 private:
  friend class MemoryAsBefore;
  /// Declared first: reading the other policy may set it.
  std::string why_not_;
  MemoryPolicy before_;
  MemoryPolicy own_;
};

/// While it lives, its thread has the memory policy from before the other object.
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
