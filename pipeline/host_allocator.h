#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace bench {

/// Allocates batch slots, so that pinned memory can replace ordinary memory.
class HostAllocator {
 public:
  virtual ~HostAllocator() = default;
  /// Returns at least `bytes` bytes, aligned to 64; throws DeviceError if there is not enough
  /// memory.
  virtual void* allocate(std::size_t bytes) = 0;
  /// Frees what allocate(bytes) returned.
  virtual void free(void* memory, std::size_t bytes) noexcept = 0;
};

/// Ordinary memory. Large blocks are aligned to huge pages, which are requested for them.
std::shared_ptr<HostAllocator> make_host_allocator();

/// An array of `count` uninitialized elements from an allocator; the destructor frees it.
template <class T>
class HostArray {
 public:
  HostArray(std::shared_ptr<HostAllocator> allocator, std::size_t count)
      : allocator_(std::move(allocator)),
        bytes_(count * sizeof(T)),
        data_(static_cast<T*>(allocator_->allocate(bytes_))) {}
  ~HostArray() {
    if (data_ != nullptr) {
      allocator_->free(data_, bytes_);
    }
  }
  HostArray(HostArray&& other) noexcept
      : allocator_(std::move(other.allocator_)),
        bytes_(other.bytes_),
        data_(std::exchange(other.data_, nullptr)) {}
  HostArray& operator=(HostArray&&) = delete;

  [[nodiscard]] T* data() const { return data_; }

 private:
  std::shared_ptr<HostAllocator> allocator_;
  std::size_t bytes_;
  T* data_;
};

}  // namespace bench
