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
  EndOfWork(HostCommunicator& communicator, int rank) : communicator_(communicator), rank_(rank) {}
  ~EndOfWork() { communicator_.end_work(rank_); }
  EndOfWork(const EndOfWork&) = delete;
  EndOfWork& operator=(const EndOfWork&) = delete;

 private:
  HostCommunicator& communicator_;
  int rank_;
};

}  // namespace

HostMember::HostMember(HostCommunicator& communicator, int rank, Backend& backend, Stream& stream)
    : communicator_(communicator),
      rank_(rank),
      backend_(backend),
      stream_(stream),
      threads_(backend.host_threads()),
      staged_(!backend.shares_host_memory()) {}

HostMember::~HostMember() {
  if (!active_.empty()) {
    communicator_.cancel(rank_, "left before its gradients were reduced");
    communicator_.wait_for_quiet();
  }
  communicator_.leave(rank_);
  if (staged_ && !places_.empty()) {
    finish(stream_);
  }
}

template <class Work>
auto HostMember::or_cancel(const Work& work) {
  try {
    communicator_.check_failure();
    return work();
  } catch (const std::exception& error) {
    communicator_.cancel(rank_, error.what());  // The first failure is kept.
    communicator_.wait_for_quiet();
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

CollectiveMember::Handle HostMember::start(const BufferView& view) {
  return or_cancel([&] {
    check(is_floating(view.dtype),
          fmt::format("all-reduce: unsupported element type {}", name_of(view.dtype)));
    const std::size_t bytes = view.elements * size_of(view.dtype);
    Place& place = take_place(bytes);
    if (staged_) {
      stream_.download(view.data, {place.staging->data(), bytes});
    }
    stream_.record(*place.arrived);
    active_.push_back(
        {.operation = &communicator_.enter(rank_, view), .data = view.data, .place = &place});
    const Handle handle = next_++;
    advance();
    return handle;
  });
}

void HostMember::wait(Handle handle, const Patience& patience) {
  check(handle < next_, "all-reduce: the handle was never started");
  if (is_done(handle)) {
    return;
  }
  or_cancel([&] {
    for (int turn = 0;; ++turn) {
      const std::uint32_t seen = communicator_.changes();
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
      communicator_.check_failure();
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
         active_.front().operation->finished.load() == communicator_.members()) {
    finish_first();
  }
}

void HostMember::see_arrivals() {
  for (const Active& active : active_) {
    Operation::MemberState& state = active.operation->states[index()];
    if (state.arrived.load()) {
      continue;
    }
    if (!active.place->arrived->done()) {
      return;
    }
    state.memory = staged_ ? active.place->staging->data() : static_cast<std::byte*>(active.data);
    state.arrived.store(true);
    ++active.operation->arrived;
    communicator_.signal();
  }
}

bool HostMember::do_steps(Active& active) {
  Operation& operation = *active.operation;
  if (operation.arrived.load() < communicator_.members()) {
    return false;
  }
  const std::vector<ReduceStep>& steps = (*operation.schedule)[index()];
  std::atomic<std::size_t>& done = operation.states[index()].steps;
  for (std::size_t i = done.load(); i < steps.size(); ++i) {
    if (!is_free(operation, steps[i])) {
      return false;
    }
    do_step(operation, steps[i]);
    done.store(i + 1);
    communicator_.signal();
  }
  active.worked = true;
  ++operation.finished;
  communicator_.signal();
  return true;
}

bool HostMember::is_free(const Operation& operation, const ReduceStep& step) const {
  return std::all_of(step.after.begin(), step.after.end(), [&](const ReduceStep::After& after) {
    return operation.states[static_cast<std::size_t>(after.rank)].steps.load() >= after.steps;
  });
}

void HostMember::do_step(const Operation& operation, const ReduceStep& step) {
  const std::size_t size = size_of(operation.dtype);
  for (std::size_t done = 0; done < step.count; done += kElementsAtOnce) {
    const auto memory = [&](int rank) {
      return operation.states[static_cast<std::size_t>(rank)].memory + (step.begin + done) * size;
    };
    std::vector<const void*> sources;
    std::vector<void*> targets;
    std::transform(step.sources.begin(), step.sources.end(), std::back_inserter(sources), memory);
    std::transform(step.targets.begin(), step.targets.end(), std::back_inserter(targets), memory);
    if (!communicator_.begin_work(rank_)) {
      communicator_.check_failure();
    }
    const EndOfWork end(communicator_, rank_);
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
  communicator_.release(*active.operation);
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
    return active.operation->states[index()].arrived.load();
  };
  if (!is_here(active_.front())) {
    active_.front().place->arrived->wait({.deadline = until(kLongest), .cancelled = [&] {
                                            return communicator_.failed() ||
                                                   (patience.cancelled && patience.cancelled());
                                          }});
  } else if (!is_here(active_.back())) {
    communicator_.sleep(seen, until(kLongestBeforeArrival));
  } else if (turn < kTurnsAwake) {
    std::this_thread::yield();
  } else {
    communicator_.sleep(seen, until(kLongest));
  }
}

std::string HostMember::describe_wait(Handle handle, std::string_view end) const {
  const Operation& operation = *active_[handle - done_].operation;
  std::string text = fmt::format("all-reduce {} of {} {} elements {}", handle, operation.elements,
                                 name_of(operation.dtype), end);
  std::string_view separator = ": ";
  for (int rank = 0; rank < communicator_.members(); ++rank) {
    const Operation::MemberState& state = operation.states[static_cast<std::size_t>(rank)];
    const std::size_t steps = (*operation.schedule)[static_cast<std::size_t>(rank)].size();
    if (!state.arrived.load()) {
      text += fmt::format("{}{} has not arrived", separator, communicator_.name(rank));
      separator = ", ";
    } else if (rank != rank_ && state.steps.load() < steps &&
               operation.arrived.load() == communicator_.members()) {
      text += fmt::format("{}{} has finished {} of {} steps", separator, communicator_.name(rank),
                          state.steps.load(), steps);
      separator = ", ";
    }
  }
  return text;
}

}  // namespace bench
