#include "kernels/cpu/affinity.h"

#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>

#include "models/base/errors.h"

namespace bench::cpu {
namespace {

/// An empty set with space for processors 0 to count - 1.
class ProcessorSet {
 public:
  explicit ProcessorSet(std::size_t count)
      : count_(count), set_(CPU_ALLOC(count)), bytes_(CPU_ALLOC_SIZE(count)) {
    if (set_ == nullptr) throw std::bad_alloc();
    CPU_ZERO_S(bytes_, set_);
  }
  ~ProcessorSet() { CPU_FREE(set_); }
  ProcessorSet(const ProcessorSet&) = delete;
  ProcessorSet& operator=(const ProcessorSet&) = delete;

  void add(int processor) const { CPU_SET_S(static_cast<std::size_t>(processor), bytes_, set_); }
  [[nodiscard]] std::vector<int> members() const {
    std::vector<int> found;
    for (std::size_t i = 0; i < count_; ++i) {
      if (CPU_ISSET_S(i, bytes_, set_)) found.push_back(static_cast<int>(i));
    }
    return found;
  }
  [[nodiscard]] cpu_set_t* get() const { return set_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::size_t count_;
  cpu_set_t* set_;
  std::size_t bytes_;
};

using NodeBits = decltype(MemoryPolicy::nodes)::value_type;
constexpr std::size_t kBitsOfWord = std::numeric_limits<NodeBits>::digits;
/// More than any system has, and no more than the calls accept.
constexpr std::size_t kMostNodes = 4096;

/// Sets `why_not` if the system refuses.
MemoryPolicy current_memory_policy(std::string& why_not) {
  MemoryPolicy policy{.nodes = std::vector<NodeBits>(kMostNodes / kBitsOfWord)};
  if (syscall(SYS_get_mempolicy, &policy.mode, policy.nodes.data(), kMostNodes, nullptr, 0) != 0) {
    why_not = fmt::format("get_mempolicy: {}", std::strerror(errno));
  }
  return policy;
}

/// Returns 0 or an errno value.
int set_memory_policy(const MemoryPolicy& policy) {
  return syscall(SYS_set_mempolicy, policy.mode, policy.nodes.data(), kMostNodes) == 0 ? 0 : errno;
}

}  // namespace

std::vector<int> allowed_processors() {
  int status = EINVAL;
  // The kernel refuses a set that is smaller than its internal one.
  constexpr std::size_t kMost = std::size_t{1} << 20U;
  for (std::size_t count = CPU_SETSIZE; status == EINVAL && count <= kMost; count *= 2) {
    const ProcessorSet set(count);
    status = pthread_getaffinity_np(pthread_self(), set.bytes(), set.get());
    if (status == 0) return set.members();
  }
  throw DeviceError(fmt::format("pthread_getaffinity_np: {}", std::strerror(status)));
}

int allow_processors(const std::vector<int>& processors) {
  int most = 0;
  for (const int processor : processors) most = std::max(most, processor);
  const ProcessorSet set(static_cast<std::size_t>(most) + 1);
  for (const int processor : processors) set.add(processor);
  return pthread_setaffinity_np(pthread_self(), set.bytes(), set.get());
}

WithProcessors::WithProcessors(const std::vector<int>& processors) : before_(allowed_processors()) {
  const int status = allow_processors(processors);
  if (status != 0) {
    throw DeviceError(fmt::format("pthread_setaffinity_np: {}", std::strerror(status)));
  }
}

WithProcessors::~WithProcessors() { static_cast<void>(allow_processors(before_)); }

MemoryOnNode::MemoryOnNode(int node)
    : before_(current_memory_policy(why_not_)),
      own_{.mode = MPOL_PREFERRED, .nodes = std::vector<NodeBits>(kMostNodes / kBitsOfWord)} {
  check(node >= 0 && static_cast<std::size_t>(node) < kMostNodes,
        "memory policy: the NUMA node is out of range");
  const auto bit = static_cast<std::size_t>(node);
  own_.nodes[bit / kBitsOfWord] = NodeBits{1} << (bit % kBitsOfWord);
  if (!why_not_.empty()) {
    return;
  }
  if (const int status = set_memory_policy(own_); status != 0) {
    why_not_ = fmt::format("set_mempolicy: {}", std::strerror(status));
  }
}

MemoryOnNode::~MemoryOnNode() {
  if (why_not_.empty()) {
    static_cast<void>(set_memory_policy(before_));
  }
}

MemoryAsBefore::MemoryAsBefore(const MemoryOnNode& suspended) : suspended_(suspended) {
  if (suspended_.why_not().empty()) {
    static_cast<void>(set_memory_policy(suspended_.before_));
  }
}

MemoryAsBefore::~MemoryAsBefore() {
  if (suspended_.why_not().empty()) {
    static_cast<void>(set_memory_policy(suspended_.own_));
  }
}

}  // namespace bench::cpu
