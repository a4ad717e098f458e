#include "kernels/runtime/host_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "kernels/runtime/memory.h"
#include "kernels/runtime/memory_plan.h"
#include "models/base/errors.h"
#include "models/base/huge_pages.h"

namespace bench {
namespace {

class HostMemory final : public DeviceMemory {
 public:
  explicit HostMemory(std::size_t bytes) : bytes_(align_up(bytes + 1, kHugePageBytes)) {
    // Maps one huge page more than needed, so that the data can begin at a huge page's border. The
    // rest is unmapped, since address space may be limited.
    void* const mapping = mmap(nullptr, bytes_ + kHugePageBytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) {
      throw DeviceError(
          fmt::format("cannot allocate {} of memory (mmap: {}); use a smaller --batch_size, or "
                      "raise ulimit -v if it is set",
                      format_bytes(bytes), std::strerror(errno)));
    }
    auto* const begin = static_cast<std::byte*>(mapping);
    const auto misfit = reinterpret_cast<std::uintptr_t>(begin) % kHugePageBytes;
    const std::size_t before = misfit == 0 ? 0 : kHugePageBytes - misfit;
    data_ = begin + before;
    if (before != 0) {
      munmap(begin, before);
    }
    munmap(data_ + bytes_, kHugePageBytes - before);
    advise_huge_pages(data_, bytes_);
  }
  ~HostMemory() override { munmap(data_, bytes_); }

  [[nodiscard]] std::byte* data() const override { return data_; }

 private:
  std::size_t bytes_;
  std::byte* data_ = nullptr;
};

}  // namespace

std::unique_ptr<DeviceMemory> allocate_host_memory(std::size_t bytes) {
  return std::make_unique<HostMemory>(bytes);
}

}  // namespace bench
