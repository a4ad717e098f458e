#include "bench/loop/feeding.h"

#include "bench/plan/memory_check.h"

namespace bench {

Feeding::Feeding(const Workload& workload, Towers& towers, BatchesAhead& batches)
    : towers_(towers),
      batches_(batches),
      images_(static_cast<std::size_t>(workload.batch)),
      image_elements_(image_elements(workload) * images_),
      position_(workload.input.start) {}

bool Feeding::begin_step(bool more) {
  ahead_ = more && towers_.first().feeds_ahead();
  batch_.reset();
  if (!fed_) {
    batch_ = batches_.next();
    if (!batch_) {
      return false;
    }
  }
  next_position_ = batch_ ? batch_->following : next_position_;
  if (batch_ && ahead_) {
    // It is released as soon as a tower asks for the next one.
    towers_.run([this](int tower) {
      feed(tower, *batch_);
      towers_[tower].wait();
    });
    batch_.reset();
  }
  batches_.begin_step();
  return true;
}

void Feeding::end_step() {
  position_ = next_position_;
  const std::optional<InputBatch>& ahead = batches_.brought_ahead();
  fed_ = ahead.has_value();
  if (ahead) {
    next_position_ = ahead->following;
  }
}

void Feeding::feed(int tower) {
  if (batch_) {
    feed(tower, *batch_);
  }
}

void Feeding::feed(int tower, const InputBatch& batch) {
  const auto place = static_cast<std::size_t>(tower);
  const std::int32_t* const labels = batch.labels + place * images_;
  if (batch.pixels != nullptr) {
    towers_[tower].feed_pixels(batch.pixels + place * image_elements_, labels, batch.content);
  } else {
    towers_[tower].feed(batch.images + place * image_elements_, labels, batch.content);
  }
}

bool Feeding::bring(int tower, BatchesAhead::Wait wait) {
  const std::optional<InputBatch> batch = batches_.ahead(wait);
  if (batch) {
    feed(tower, *batch);
  }
  return batch.has_value();
}

void Feeding::enqueue(int tower, RepeatedStep& step) {
  if (!ahead_) {
    step.enqueue([] {});
    return;
  }
  Executor& executor = towers_[tower].executor();
  executor.begin_ahead();
  // Do not wait for a batch: that would keep the other towers waiting for gradients.
  bool brought = false;
  const auto meanwhile = [&] { brought = bring(tower, BatchesAhead::Wait::no); };
  step.enqueue(std::ref(meanwhile));
  if (!brought) {
    bring(tower, BatchesAhead::Wait::yes);
  }
  executor.take_ahead();
}

}  // namespace bench
