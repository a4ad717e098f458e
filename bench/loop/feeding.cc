#include "bench/loop/feeding.h"

#include "bench/plan/input.h"

namespace bench {

Feeding::Feeding(const Workload& workload, std::int64_t at_once, Towers& towers,
                 BatchesAhead& batches)
    : towers_(towers),
      batches_(batches),
      images_(static_cast<std::size_t>(workload.batch)),
      at_once_(static_cast<std::size_t>(at_once)),
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
      feed(tower, 0, *batch_);
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

void Feeding::feed(int tower, std::int64_t run) {
  if (batch_) {
    feed(tower, run, *batch_);
  }
}

void Feeding::feed(int tower, std::int64_t run, const InputBatch& batch) {
  const std::size_t first =
      static_cast<std::size_t>(tower) * images_ + static_cast<std::size_t>(run) * at_once_;
  feed_examples(towers_[tower], batch, first);
}

bool Feeding::bring(int tower, BatchesAhead::Wait wait) {
  const std::optional<InputBatch> batch = batches_.ahead(wait);
  if (batch) {
    feed(tower, 0, *batch);
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
