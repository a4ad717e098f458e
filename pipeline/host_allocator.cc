#include "pipeline/host_allocator.h"

#include <cstdlib>

#include "models/base/errors.h"
#include "models/base/huge_pages.h"

namespace bench {
namespace {

class OrdinaryAllocator final : public HostAllocator {
 public:
  void* allocate(std::size_t bytes) override {
    const std::size_t alignment = bytes >= kHugePageBytes ? kHugePageBytes : kLineBytes;
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void* memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
    if (memory == nullptr) {
      throw DeviceError(
          fmt::format("out of memory: cannot allocate an input slot of {} bytes", bytes));
    }
    if (alignment == kHugePageBytes) {
      advise_huge_pages(memory, rounded);
    }
    return memory;
  }
  void free(void* memory, std::size_t /*bytes*/) noexcept override { std::free(memory); }

 private:
  static constexpr std::size_t kLineBytes = 64;
};

}  // namespace

std::shared_ptr<HostAllocator> make_host_allocator() {
  return std::make_shared<OrdinaryAllocator>();
}

}  // namespace bench
