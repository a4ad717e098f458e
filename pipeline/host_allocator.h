#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace bench {

/// Where batch slots come from, so that pinned memory can take the place of ordinary memory.
class HostAllocator {
 public:
  virtual ~HostAllocator() = default;
  /// At least `bytes` bytes, aligned to 64; throws DeviceError when there is no memory.
  virtual void* allocate(std::size_t bytes) = 0;
  /// Gives back what allocate(bytes) returned.
  virtual void free(void* memory, std::size_t bytes) noexcept = 0;
};

/// Ordinary memory; large pieces are aligned to huge pages, and huge pages are asked for.
std::shared_ptr<HostAllocator> make_host_allocator();

/// An array of `count` elements from an allocator, freed with it; the contents are undefined.
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
