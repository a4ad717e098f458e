#include "bench/plan/staging_allocator.h"

#include <map>
#include <mutex>

namespace bench {
namespace {

class StagingAllocator final : public HostAllocator {
 public:
  explicit StagingAllocator(Backend& backend) : backend_(backend) {}

  void* allocate(std::size_t bytes) override {
    auto piece = backend_.allocate_staging(bytes);
    void* const data = piece->data();
    const std::lock_guard lock(mutex_);
    pieces_[data] = std::move(piece);
    return data;
  }

  void free(void* memory, std::size_t /*bytes*/) noexcept override {
    const std::lock_guard lock(mutex_);
    pieces_.erase(memory);
  }

 private:
  Backend& backend_;
  std::mutex mutex_;
  std::map<void*, std::unique_ptr<DeviceMemory>> pieces_;
};

}  // namespace

std::shared_ptr<HostAllocator> make_staging_allocator(Backend& backend) {
  return backend.shares_host_memory() ? nullptr : std::make_shared<StagingAllocator>(backend);
}

}  // namespace bench
