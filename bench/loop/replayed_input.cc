#include "bench/loop/replayed_input.h"

#include <cstring>

#include "models/base/errors.h"

namespace bench {

ReplayedInput::ReplayedInput(InputSource& source, int count, std::int64_t images,
                             std::size_t image_bytes, std::shared_ptr<HostAllocator> allocator) {
  if (allocator == nullptr) {
    allocator = make_host_allocator();
  }
  const auto rows = static_cast<std::size_t>(images);
  for (int i = 0; i < count; ++i) {
    const InputBatch from = source.next();
    check(from.has_images(), "only images can be replayed");
    Copy copy{.images = {allocator, rows * image_bytes},
              .labels = {from.labels, from.labels + images},
              .epochs = std::vector<std::int64_t>(rows)};
    const void* const pixels = from.pixels != nullptr ? static_cast<const void*>(from.pixels)
                                                      : static_cast<const void*>(from.images);
    std::memcpy(copy.images.data(), pixels, rows * image_bytes);
    copy.batch = from;
    copies_.push_back(std::move(copy));
  }
  for (Copy& copy : copies_) {
    if (copy.batch.pixels != nullptr) {
      copy.batch.pixels = reinterpret_cast<const std::uint8_t*>(copy.images.data());
    } else {
      copy.batch.images = reinterpret_cast<const float*>(copy.images.data());
    }
    copy.batch.labels = copy.labels.data();
    copy.batch.epochs = copy.epochs.data();
    copy.batch.content = {};
  }
}

void ReplayedInput::repeat_first() {
  repeats_ = true;
  copies_.front().batch.content = ContentId::fresh();
}

InputBatch ReplayedInput::next() {
  if (repeats_) {
    return copies_.front().batch;
  }
  const InputBatch batch = copies_[next_].batch;
  next_ = (next_ + 1) % copies_.size();
  return batch;
}

}  // namespace bench
