#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "pipeline/host_allocator.h"
#include "pipeline/input.h"

namespace bench {

/// Copies of batches, which it hands out in turn without any work, to measure a device alone. It
/// must not outlive their source, which has the names of the inputs.
class ReplayedInput final : public InputSource {
 public:
  /// Copies the next `count` batches of `source`, each of `images` images of `image_bytes` bytes.
  /// The default allocator provides ordinary memory. Waits for them. Throws what the source throws.
  ReplayedInput(InputSource& source, int count, std::int64_t images, std::size_t image_bytes,
                std::shared_ptr<HostAllocator> allocator = nullptr);

  /// From now on, it hands out only the first batch, and says that its contents do not change.
  void repeat_first();

  InputBatch next() override;
  [[nodiscard]] InputStatistics statistics() const override { return {}; }

 private:
  struct Copy {
    HostArray<std::byte> images;
    std::vector<std::int32_t> labels;
    std::vector<HostArray<std::byte>> numbers;
    std::vector<BatchNumbers> batch_numbers;
    std::vector<std::int64_t> epochs;
    InputBatch batch = {};
  };
  std::vector<Copy> copies_;
  std::size_t next_ = 0;
  bool repeats_ = false;
};

}  // namespace bench
