#include "pipeline/stages/sample_order.h"

#include <utility>

#include "models/base/errors.h"

namespace bench {
namespace {

RandomStream shuffle_random(std::uint64_t seed, std::uint64_t epoch) {
  return RandomStream(seed ^ hash_name("shuffle buffer"), epoch);
}

}  // namespace

RandomStream sample_random(std::uint64_t seed, const Sample& sample, std::string_view purpose) {
  constexpr unsigned kIndexBits = 40;
  return RandomStream(seed ^ hash_name(purpose), sample.epoch << kIndexBits | sample.index);
}

SampleOrder::SampleOrder(std::unique_ptr<RecordStream> source, std::size_t capacity,
                         std::uint64_t seed, const InputPosition& start)
    : source_(std::move(source)),
      capacity_(capacity),
      seed_(seed),
      epoch_(static_cast<std::uint64_t>(start.epoch)),
      random_(shuffle_random(seed, epoch_)) {
  check(capacity > 0, "a shuffle buffer must hold at least one record");
  for (std::int64_t i = 0; i < start.index; ++i) {
    next();
  }
}

void SampleOrder::refill() {
  // One record of the next epoch per draw suffices. Reading all of a small epoch at once would
  // cause a pause, and need memory for two.
  bool reads_following = false;
  while (held_.size() + following_.size() < capacity_ && !following_ended_ && !reads_following) {
    reads_following = ended_;
    std::optional<Record> record = source_->next();
    if (record) {
      (ended_ ? following_ : held_).push_back(std::move(*record));
    } else if (ended_) {
      following_ended_ = true;
    } else {
      ended_ = true;
    }
  }
}

Sample SampleOrder::next() {
  refill();
  if (held_.empty()) {
    held_.swap(following_);
    ended_ = std::exchange(following_ended_, false);
    ++epoch_;
    index_ = 0;
    random_ = shuffle_random(seed_, epoch_);
    refill();
  }
  check(!held_.empty(), "an epoch must have at least one record");
  const std::size_t drawn = random_.below(static_cast<std::uint32_t>(held_.size()));
  std::swap(held_[drawn], held_.back());
  Sample sample{.record = std::move(held_.back()), .epoch = epoch_, .index = index_++};
  held_.pop_back();
  return sample;
}

}  // namespace bench
