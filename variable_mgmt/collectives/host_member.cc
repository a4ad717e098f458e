#include "variable_mgmt/collectives/host_member.h"

#include <algorithm>
#include <thread>

#include "variable_mgmt/collectives/threaded_reduce.h"

namespace bench {
namespace {

using std::chrono::steady_clock;

/// Elements to process between two checks for a failure.
constexpr std::size_t kElementsAtOnce = std::size_t{1} << 20;

/// Ends a member's work on every path, or others would wait for it forever.
class EndOfWork {
 public:
  EndOfWork(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
  ~EndOfWork() { meeting_.end_work(rank_); }
  EndOfWork(const EndOfWork&) = delete;
  EndOfWork& operator=(const EndOfWork&) = delete;

 private:
  Meeting& meeting_;
  int rank_;
};

}  // namespace

HostMember::HostMember(Meeting& meeting, int rank, Backend& backend, Stream& stream)
    : meeting_(meeting),
      rank_(rank),
      backend_(backend),
      stream_(stream),
      threads_(backend.host_threads()),
      staged_(!backend.shares_host_memory()) {}

HostMember::~HostMember() {
  if (!active_.empty()) {
    meeting_.cancel(rank_, "left before its gradients were reduced");
    meeting_.wait_for_quiet();
  }
  meeting_.leave(rank_);
  if (staged_ && !places_.empty()) {
    finish(stream_);
  }
}

template <class Work>
auto HostMember::or_cancel(const Work& work) {
  try {
    meeting_.check_failure();
    return work();
  } catch (const std::exception& error) {
    meeting_.cancel(rank_, error.what());  // The first failure is kept.
    meeting_.wait_for_quiet();
    throw;
  }
}

HostMember::Place& HostMember::take_place(std::size_t bytes) {
  const auto free = [&](const std::unique_ptr<Place>& place) {
    return !place->taken && (!staged_ || (place->bytes >= bytes && place->returned->done()));
  };
  const auto found = std::find_if(places_.begin(), places_.end(), free);
  if (found != places_.end()) {
    (*found)->taken = true;
    return **found;
  }
  auto place = std::make_unique<Place>();
  place->arrived = backend_.make_event();
  if (staged_) {
    place->returned = backend_.make_event();
    place->staging = backend_.allocate_staging(std::max<std::size_t>(bytes, 1));
    place->bytes = bytes;
  }
  place->taken = true;
  places_.push_back(std::move(place));
  return *places_.back();
}

CollectiveMember::Handle HostMember::start(const Stretch& stretch) {
  return or_cancel([&] {
    check(is_floating(stretch.dtype),
          fmt::format("all-reduce: unsupported element type {}", name_of(stretch.dtype)));
    const std::size_t bytes = stretch.elements * size_of(stretch.dtype);
    Place& place = take_place(bytes);
    if (staged_) {
      stream_.download(stretch.data, {place.staging->data(), bytes});
    }
    stream_.record(*place.arrived);
    active_.push_back(
        {.operation = &meeting_.enter(rank_, stretch), .data = stretch.data, .place = &place});
    const Handle handle = next_++;
    advance();
    return handle;
  });
}

bool HostMember::test(Handle handle) {
  check(handle < next_, "all-reduce: the handle was never started");
  if (is_done(handle)) {
    return true;
  }
  return or_cancel([&] {
    advance();
    return is_done(handle);
  });
}

void HostMember::wait(Handle handle, const Patience& patience) {
  check(handle < next_, "all-reduce: the handle was never started");
  if (is_done(handle)) {
    return;
  }
  or_cancel([&] {
    for (int turn = 0;; ++turn) {
      const std::uint32_t seen = meeting_.changes();
      const Handle before = done_;
      advance();
      if (is_done(handle)) {
        return;
      }
      if (patience.cancelled && patience.cancelled()) {
        throw DeviceError(describe_wait(handle, "was cancelled"));
      }
      if (steady_clock::now() >= patience.deadline) {
        throw DeviceError(describe_wait(handle, "missed its deadline"));
      }
      turn = done_ == before ? turn : 0;
      pause(seen, turn, patience);
      meeting_.check_failure();
    }
  });
}

void HostMember::advance() {
  see_arrivals();
  for (Active& active : active_) {
    if (!active.worked && !do_steps(active)) {
      break;
    }
  }
  while (!active_.empty() && active_.front().worked &&
         active_.front().operation->finished.load() == meeting_.members()) {
    finish_first();
  }
}

void HostMember::see_arrivals() {
  for (const Active& active : active_) {
    Operation::Seat& seat = active.operation->seats[index()];
    if (seat.arrived.load()) {
      continue;
    }
    if (!active.place->arrived->done()) {
      return;
    }
    seat.memory = staged_ ? active.place->staging->data() : static_cast<std::byte*>(active.data);
    seat.arrived.store(true);
    ++active.operation->arrived;
    meeting_.signal();
  }
}

bool HostMember::do_steps(Active& active) {
  Operation& operation = *active.operation;
  if (operation.arrived.load() < meeting_.members()) {
    return false;
  }
  const std::vector<ReduceStep>& steps = (*operation.schedule)[index()];
  std::atomic<std::size_t>& done = operation.seats[index()].steps;
  for (std::size_t i = done.load(); i < steps.size(); ++i) {
    if (!is_free(operation, steps[i])) {
      return false;
    }
    do_step(operation, steps[i]);
    done.store(i + 1);
    meeting_.signal();
  }
  active.worked = true;
  ++operation.finished;
  meeting_.signal();
  return true;
}

bool HostMember::is_free(const Operation& operation, const ReduceStep& step) const {
  return std::all_of(step.after.begin(), step.after.end(), [&](const ReduceStep::After& after) {
    return operation.seats[static_cast<std::size_t>(after.rank)].steps.load() >= after.steps;
  });
}

void HostMember::do_step(const Operation& operation, const ReduceStep& step) {
  const std::size_t size = size_of(operation.dtype);
  for (std::size_t done = 0; done < step.count; done += kElementsAtOnce) {
    const auto memory = [&](int rank) {
      return operation.seats[static_cast<std::size_t>(rank)].memory + (step.begin + done) * size;
    };
    std::vector<const void*> sources;
    std::vector<void*> targets;
    std::transform(step.sources.begin(), step.sources.end(), std::back_inserter(sources), memory);
    std::transform(step.targets.begin(), step.targets.end(), std::back_inserter(targets), memory);
    if (!meeting_.begin_work(rank_)) {
      meeting_.check_failure();
    }
    const EndOfWork end(meeting_, rank_);
    reduce_by(threads_, {.dtype = operation.dtype,
                         .count = std::min(step.count - done, kElementsAtOnce),
                         .sources = sources,
                         .targets = targets});
  }
}

void HostMember::finish_first() {
  const Active active = active_.front();
  if (staged_) {
    stream_.upload({active.place->staging->data(), active.bytes()}, active.data);
    stream_.record(*active.place->returned);
  }
  active_.pop_front();
  active.place->taken = false;
  meeting_.release(*active.operation);
  ++done_;
}

void HostMember::pause(std::uint32_t seen, int turn, const Patience& patience) {
  constexpr int kTurnsAwake = 100;
  constexpr std::chrono::milliseconds kLongest{10};
  constexpr std::chrono::microseconds kLongestBeforeArrival{100};
  const auto until = [&](auto longest) {
    return std::min<steady_clock::time_point>(patience.deadline, steady_clock::now() + longest);
  };
  const auto is_here = [&](const Active& active) {
    return active.operation->seats[index()].arrived.load();
  };
  if (!is_here(active_.front())) {
    active_.front().place->arrived->wait({.deadline = until(kLongest), .cancelled = [&] {
                                            return meeting_.failed() ||
                                                   (patience.cancelled && patience.cancelled());
                                          }});
  } else if (!is_here(active_.back())) {
    meeting_.sleep(seen, until(kLongestBeforeArrival));
  } else if (turn < kTurnsAwake) {
    std::this_thread::yield();
  } else {
    meeting_.sleep(seen, until(kLongest));
  }
}

std::string HostMember::describe_wait(Handle handle, std::string_view end) const {
  const Operation& operation = *active_[handle - done_].operation;
  std::string text = fmt::format("all-reduce {} of {} {} elements {}", handle, operation.elements,
                                 name_of(operation.dtype), end);
  std::string_view separator = ": ";
  for (int rank = 0; rank < meeting_.members(); ++rank) {
    const Operation::Seat& seat = operation.seats[static_cast<std::size_t>(rank)];
    const std::size_t steps = (*operation.schedule)[static_cast<std::size_t>(rank)].size();
    if (!seat.arrived.load()) {
      text += fmt::format("{}{} has not arrived", separator, meeting_.name(rank));
      separator = ", ";
    } else if (rank != rank_ && seat.steps.load() < steps &&
               operation.arrived.load() == meeting_.members()) {
      text += fmt::format("{}{} has finished {} of {} steps", separator, meeting_.name(rank),
                          seat.steps.load(), steps);
      separator = ", ";
    }
  }
  return text;
}

}  // namespace bench
