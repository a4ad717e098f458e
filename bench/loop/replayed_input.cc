#include "bench/loop/replayed_input.h"

#include <algorithm>
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
              .labels = {},
              .numbers = {},
              .batch_numbers = {from.numbers.begin(), from.numbers.end()},
              .epochs = std::vector<std::int64_t>(rows)};
    if (from.labels != nullptr) {
      copy.labels.assign(from.labels, from.labels + images);
    }
    for (const BatchNumbers& each : from.numbers) {
      const auto bytes = each.bytes(0, rows);
      copy.numbers.emplace_back(allocator, bytes.size());
      std::ranges::copy(bytes, copy.numbers.back().data());
    }
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
    copy.batch.labels = copy.labels.empty() ? nullptr : copy.labels.data();
    for (std::size_t i = 0; i < copy.numbers.size(); ++i) {
      copy.batch_numbers[i].values = copy.numbers[i].data();
      copy.batch_numbers[i].content = {};
    }
    copy.batch.numbers = copy.batch_numbers;
    copy.batch.epochs = copy.epochs.data();
    copy.batch.content = {};
  }
}

void ReplayedInput::repeat_first() {
  repeats_ = true;
  Copy& first = copies_.front();
  first.batch.content = ContentId::fresh();
  for (BatchNumbers& each : first.batch_numbers) {
    each.content = ContentId::fresh();
  }
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
