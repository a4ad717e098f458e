#include "variable_mgmt/collectives/meeting.h"

#include <algorithm>
#include <string_view>
#include <thread>

namespace bench {
namespace {

constexpr std::string_view kLeft = "left before its gradients were reduced";

std::string describe(std::size_t elements, DType dtype, std::size_t index) {
  return fmt::format("{} {} elements and index {}", elements, name_of(dtype), index);
}

}  // namespace

Meeting::Meeting(CollectiveOptions options)
    : options_(std::move(options)),
      entered_(options_.names.size()),
      left_(options_.names.size()),
      working_(options_.names.size()) {
  check(!options_.names.empty(), "collective: there must be at least one member");
  for (const AllReduceRange& range : options_.spec) {
    plan_schedule({.range = range, .members = members(), .ring_order = options_.ring_order});
  }
}

std::shared_ptr<const Schedule> Meeting::schedule_of(const Stretch& stretch) {
  if (options_.spec.empty()) {
    return nullptr;
  }
  // A multiple of every algorithm's period for up to nine members.
  constexpr std::size_t kTurns = 2520;
  const std::size_t turn = stretch.index % kTurns;
  auto& schedule = schedules_[{stretch.elements, stretch.dtype, turn}];
  if (schedule == nullptr) {
    schedule = std::make_shared<const Schedule>(
        plan_schedule({.range = range_for(options_.spec, stretch.elements * size_of(stretch.dtype)),
                       .members = members(),
                       .elements = stretch.elements,
                       .index = turn,
                       .ring_order = options_.ring_order}));
  }
  return schedule;
}

Operation& Meeting::enter(int rank, const Stretch& stretch) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t number = entered_[static_cast<std::size_t>(rank)]++;
  for (std::size_t other = 0; other < left_.size(); ++other) {
    if (left_[other] && entered_[other] <= number) {
      set_failure(static_cast<int>(other), std::string(kLeft));
      throw CollectiveCancelled(failure_);
    }
  }
  const std::uint64_t first =
      operations_.empty() ? number : std::min(number, operations_.front()->number);
  if (number - first == operations_.size()) {
    operations_.push_back(
        std::make_unique<Operation>(number, stretch, members(), schedule_of(stretch)));
    return *operations_.back();
  }
  Operation& operation = *operations_[number - first];
  check(operation.elements == stretch.elements && operation.dtype == stretch.dtype &&
            operation.index == stretch.index,
        fmt::format("all-reduce {} of {} has {}, but another member's has {}", number, name(rank),
                    describe(stretch.elements, stretch.dtype, stretch.index),
                    describe(operation.elements, operation.dtype, operation.index)));
  return operation;
}

void Meeting::release(Operation& operation) {
  const std::lock_guard lock(mutex_);
  ++operation.released;
  while (!operations_.empty() && operations_.front()->released == members()) {
    operations_.pop_front();
  }
}

void Meeting::signal() {
  ++changes_;
  if (sleepers_.load() > 0) {
    { const std::lock_guard lock(mutex_); }
    changed_.notify_all();
  }
}

void Meeting::sleep(std::uint32_t seen, std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  ++sleepers_;
  changed_.wait_until(lock, until, [&] { return changes_.load() != seen; });
  --sleepers_;
}

void Meeting::set_failure(int rank, const std::string& reason) {
  if (!failed_) {
    failure_ = fmt::format("{}: {}", name(rank), reason);
    failed_ = true;
  }
}

void Meeting::cancel(int rank, const std::string& reason) noexcept {
  {
    const std::lock_guard lock(mutex_);
    set_failure(rank, reason);
  }
  signal();
}

void Meeting::leave(int rank) noexcept {
  {
    const std::lock_guard lock(mutex_);
    const auto index = static_cast<std::size_t>(rank);
    left_[index] = true;
    // Operations that it released may remain for the others.
    if (!operations_.empty() && operations_.back()->number >= entered_[index]) {
      set_failure(rank, std::string(kLeft));
    }
  }
  signal();
}

std::string Meeting::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void Meeting::check_failure() const {
  if (failed()) {
    throw CollectiveCancelled(failure());
  }
}

bool Meeting::begin_work(int rank) {
  // Either wait_for_quiet() sees the flag or this function sees the failure, since both are
  // sequentially consistent.
  working_[static_cast<std::size_t>(rank)].flag.store(true);
  if (failed()) {
    end_work(rank);
    return false;
  }
  return true;
}

void Meeting::wait_for_quiet() const {
  for (const Flag& each : working_) {
    while (each.flag.load()) {
      std::this_thread::yield();
    }
  }
}

}  // namespace bench
