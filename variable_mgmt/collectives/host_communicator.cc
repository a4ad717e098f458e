#include "variable_mgmt/collectives/host_communicator.h"

#include <algorithm>
#include <string_view>
#include <thread>

namespace bench {
namespace {

constexpr std::string_view kLeft = "left before its gradients were reduced";

std::string describe(std::size_t elements, DType dtype, std::size_t index) {
  return fmt::format("{} {} elements and index {}", elements, name_of(dtype), index);
}

CollectiveOptions with_remote_name(CollectiveOptions options) {
  if (options.remote != nullptr) {
    options.names.emplace_back("the sum over processes");
  }
  return options;
}

}  // namespace

HostCommunicator::HostCommunicator(CollectiveOptions options)
    : options_(with_remote_name(std::move(options))),
      entered_(options_.names.size()),
      left_(options_.names.size()),
      working_(options_.names.size()) {
  check(!options_.names.empty(), "collective: there must be at least one member");
  for (const AllReduceRange& range : options_.spec) {
    plan_schedule({.range = range, .members = members(), .ring_order = options_.ring_order});
  }
}

HostCommunicator::~HostCommunicator() {
  if (options_.remote != nullptr) {
    options_.remote->leave();
  }
}

std::shared_ptr<const Schedule> HostCommunicator::schedule_of(const BufferView& view) {
  if (options_.spec.empty() && options_.remote == nullptr) {
    return nullptr;
  }
  // A multiple of every algorithm's period for up to nine members.
  constexpr std::size_t kTurns = 2520;
  const std::size_t turn = view.index % kTurns;
  auto& schedule = schedules_[{view.elements, view.dtype, turn}];
  if (schedule == nullptr && options_.remote != nullptr) {
    schedule =
        std::make_shared<const Schedule>(options_.remote->plan(local_members(), view.elements));
  } else if (schedule == nullptr) {
    schedule = std::make_shared<const Schedule>(
        plan_schedule({.range = range_for(options_.spec, view.elements * size_of(view.dtype)),
                       .members = members(),
                       .elements = view.elements,
                       .index = turn,
                       .ring_order = options_.ring_order}));
  }
  return schedule;
}

Operation& HostCommunicator::enter(int rank, const BufferView& view) {
  std::unique_lock lock(mutex_);
  const std::uint64_t number = entered_[static_cast<std::size_t>(rank)]++;
  for (std::size_t other = 0; other < left_.size(); ++other) {
    if (left_[other] && entered_[other] <= number) {
      set_failure(static_cast<int>(other), std::string(kLeft));
      throw Cancelled(failure_);
    }
  }
  const std::uint64_t first =
      operations_.empty() ? number : std::min(number, operations_.front()->number);
  if (number - first == operations_.size()) {
    operations_.push_back(std::make_unique<Operation>(number, view, members(), schedule_of(view)));
    Operation& operation = *operations_.back();
    if (options_.remote != nullptr) {
      operation.states.back().arrived.store(true);
      ++operation.arrived;
      ++entered_.back();
      lock.unlock();
      options_.remote->begin(*this, operation);
    }
    return operation;
  }
  Operation& operation = *operations_[number - first];
  check(operation.elements == view.elements && operation.dtype == view.dtype &&
            operation.index == view.index,
        fmt::format("all-reduce {} of {} has {}, but another member's has {}", number, name(rank),
                    describe(view.elements, view.dtype, view.index),
                    describe(operation.elements, operation.dtype, operation.index)));
  return operation;
}

void HostCommunicator::release(Operation& operation) {
  const std::lock_guard lock(mutex_);
  ++operation.released;
  while (!operations_.empty() && operations_.front()->released == members()) {
    operations_.pop_front();
  }
}

void HostCommunicator::signal() {
  ++changes_;
  if (sleepers_.load() > 0) {
    { const std::lock_guard lock(mutex_); }
    changed_.notify_all();
  }
}

void HostCommunicator::sleep(std::uint32_t seen, std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  ++sleepers_;
  changed_.wait_until(lock, until, [&] { return changes_.load() != seen; });
  --sleepers_;
}

void HostCommunicator::set_failure(int rank, const std::string& reason) {
  if (!failed_) {
    const bool is_remote = rank == local_members();  // Its reason names the process.
    failure_ = is_remote ? reason : fmt::format("{}: {}", name(rank), reason);
    failed_ = true;
  }
}

void HostCommunicator::cancel(int rank, const std::string& reason) noexcept {
  {
    const std::lock_guard lock(mutex_);
    set_failure(rank, reason);
  }
  signal();
}

void HostCommunicator::leave(int rank) noexcept {
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

std::string HostCommunicator::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void HostCommunicator::check_failure() const {
  if (failed()) {
    throw Cancelled(failure());
  }
}

bool HostCommunicator::begin_work(int rank) {
  // Either wait_for_quiet() sees the flag or this function sees the failure, since both are
  // sequentially consistent.
  working_[static_cast<std::size_t>(rank)].flag.store(true);
  if (failed()) {
    end_work(rank);
    return false;
  }
  return true;
}

void HostCommunicator::wait_for_quiet() const {
  for (const Flag& each : working_) {
    while (each.flag.load()) {
      std::this_thread::yield();
    }
  }
}

}  // namespace bench
