// A fake NCCL for the tests' processes: ranks are threads, and streams are whatever push()
// supports. Like NCCL, it requires that a communicator is polled until a call is accepted.
// FAKE_NCCL lists faults, separated by commas, which are read when a group begins:
//   init_never, init_error    communicators are never connected; cannot be
//   never:K                   all-reduce K, counted from 0, is never done
//   error:K, lost:K           all-reduce K fails: on rank 1; on all others, since rank 1 is lost
//   abort_hangs               ncclCommAbort does not return
#include "kernels/test/fake_nccl.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/nccl_library.h"

namespace {

constexpr int kSuccess = bench::nccl::kSuccess;
constexpr int kInProgress = bench::nccl::kInProgress;
constexpr int kUnhandledCudaError = 1;
constexpr int kInternalError = 3;
constexpr int kInvalidArgument = 4;
constexpr int kInvalidUsage = 5;
constexpr int kRemoteError = 6;
constexpr int kVersion = 22809;
/// How often a polled call is still in progress.
constexpr int kPolls = 3;

struct Faults {
  bool init_never = false;
  bool init_error = false;
  bool abort_hangs = false;
  std::size_t never = SIZE_MAX;
  std::size_t error = SIZE_MAX;
  std::size_t lost = SIZE_MAX;
};

Faults read_faults() {
  Faults faults;
  const char* const given = std::getenv("FAKE_NCCL");
  std::string text = given == nullptr ? "" : given;
  while (!text.empty()) {
    const std::string word = text.substr(0, text.find(','));
    text.erase(0, word.size() + 1);
    const auto at = word.find(':');
    const std::string name = word.substr(0, at);
    const std::size_t number = at == std::string::npos ? 0 : std::stoul(word.substr(at + 1));
    faults.init_never |= name == "init_never";
    faults.init_error |= name == "init_error";
    faults.abort_hangs |= name == "abort_hangs";
    faults.never = name == "never" ? number : faults.never;
    faults.error = name == "error" ? number : faults.error;
    faults.lost = name == "lost" ? number : faults.lost;
  }
  return faults;
}

struct AllReduce {
  /// The memory of each rank; null until the rank has arrived.
  std::vector<void*> memory;
  std::size_t come = 0;
  bool done = false;
};

struct Group {
  explicit Group(Faults faults_of_group) : faults(faults_of_group) {}
  const Faults faults;
  std::mutex mutex;
  std::size_t ranks = 0;
  std::size_t joined = 0;
  /// A rank has given up: its memory may be freed.
  bool broken = false;
  std::deque<AllReduce> operations;
};

/// The device's view of a rank.
struct Rank {
  std::shared_ptr<Group> group;
  std::size_t number = 0;
  /// The number of all-reduces that its stream has reached.
  std::size_t begun = 0;
  std::atomic<int> error = kSuccess;
  std::atomic<bool> aborted = false;
};

}  // namespace

struct bench::nccl::CommunicatorHandle {
  std::shared_ptr<Rank> rank = std::make_shared<Rank>();
  int polls = kPolls;
};

namespace {

using bench::nccl::Communicator;

std::mutex groups_mutex;
std::map<int, std::shared_ptr<Group>> groups;
int last_group = 0;

/// A bf16, which is added in f32 and rounded to nearest, ties to even.
struct BrainFloat {
  std::uint16_t bits = 0;
  [[nodiscard]] float wide() const { return std::bit_cast<float>(std::uint32_t{bits} << 16U); }
  BrainFloat& operator+=(BrainFloat other) {
    const auto sum = std::bit_cast<std::uint32_t>(wide() + other.wide());
    bits = static_cast<std::uint16_t>((sum + 0x7fffU + ((sum >> 16U) & 1U)) >> 16U);
    return *this;
  }
};

/// The sums of all ranks, added in their order.
template <class T>
void add(const std::vector<void*>& memory, std::size_t count) {
  std::vector<T> sum(count);
  for (const void* rank : memory) {
    const T* const values = static_cast<const T*>(rank);
    for (std::size_t i = 0; i < count; ++i) {
      sum[i] += values[i];
    }
  }
  for (void* rank : memory) {
    std::memcpy(rank, sum.data(), count * sizeof(T));
  }
}

/// An all-reduce in a rank's stream, or in a recording of it, which reaches it repeatedly.
struct Item {
  std::shared_ptr<Rank> rank;
  void* memory;
  std::size_t count;
  int type;
  /// For the current pass: its number, once the stream has reached it, and whether the others know.
  std::optional<std::size_t> number = {};
  bool arrived = false;

  /// Returns true if all ranks have arrived, or this rank has given up.
  bool ready() {
    Group& group = *rank->group;
    const std::lock_guard lock(group.mutex);
    if (!number) {
      number = rank->begun++;
      if (*number == group.faults.error && rank->number == 1) {
        rank->error = kUnhandledCudaError;
      }
      if (*number == group.faults.lost && rank->number != 1) {
        rank->error = kRemoteError;
      }
    }
    const bool fails = *number == group.faults.never || *number == group.faults.error ||
                       *number == group.faults.lost;
    if (!arrived && !fails) {
      group.operations.resize(std::max(group.operations.size(), *number + 1));
      AllReduce& operation = group.operations[*number];
      operation.memory.resize(group.ranks);
      operation.memory[rank->number] = memory;
      ++operation.come;
      arrived = true;
    }
    return rank->aborted || (arrived && group.operations[*number].come == group.ranks);
  }

  /// The first rank adds for all, after all have arrived.
  void work() {
    Group& group = *rank->group;
    const std::lock_guard lock(group.mutex);
    if (arrived && !group.broken && group.operations[*number].come == group.ranks) {
      AllReduce& operation = group.operations[*number];
      if (!std::exchange(operation.done, true)) {
        if (type == bench::nccl::kFloat64) {
          add<double>(operation.memory, count);
        } else if (type == bench::nccl::kBfloat16) {
          add<BrainFloat>(operation.memory, count);
        } else {
          add<float>(operation.memory, count);
        }
      }
    }
    number.reset();
    arrived = false;
  }
};

}  // namespace

extern "C" {

int ncclGetVersion(int* version) {
  *version = kVersion;
  return kSuccess;
}

int ncclGetUniqueId(bench::nccl::UniqueId* id) {
  const std::lock_guard lock(groups_mutex);
  ++last_group;
  groups[last_group] = std::make_shared<Group>(read_faults());
  std::memset(id->internal, 0, sizeof id->internal);
  std::memcpy(id->internal, &last_group, sizeof last_group);
  return kSuccess;
}

int ncclCommInitRankConfig(Communicator* made, int ranks, bench::nccl::UniqueId id, int rank,
                           bench::nccl::Config* config) {
  if (config->magic != bench::nccl::Config{}.magic || config->blocking != 0) {
    return kInvalidArgument;
  }
  int number = 0;
  std::memcpy(&number, id.internal, sizeof number);
  const std::lock_guard lock(groups_mutex);
  const auto group = groups.at(number);
  if (group->faults.init_error) {
    return kInternalError;
  }
  const std::lock_guard group_lock(group->mutex);
  group->ranks = static_cast<std::size_t>(ranks);
  ++group->joined;
  *made = new bench::nccl::CommunicatorHandle;
  (*made)->rank->group = group;
  (*made)->rank->number = static_cast<std::size_t>(rank);
  return kInProgress;
}

int ncclCommGetAsyncError(Communicator communicator, int* state) {
  Group& group = *communicator->rank->group;
  {
    const std::lock_guard lock(group.mutex);
    if (group.faults.init_never || group.joined < group.ranks) {
      *state = kInProgress;
      return kSuccess;
    }
  }
  if (communicator->polls > 0) {
    --communicator->polls;
    *state = kInProgress;
  } else {
    *state = communicator->rank->error.load();
  }
  return kSuccess;
}

int ncclAllReduce(const void* from, void* to, std::size_t count, int type, int reduction,
                  Communicator communicator, void* stream) {
  if (communicator->polls > 0) {
    return kInvalidUsage;  // The previous call has not been accepted yet.
  }
  const bool added = type == bench::nccl::kFloat32 || type == bench::nccl::kFloat64 ||
                     type == bench::nccl::kBfloat16;
  if (from != to || !added || reduction != bench::nccl::kSum) {
    return kInvalidArgument;
  }
  const auto item = std::make_shared<Item>(
      Item{.rank = communicator->rank, .memory = to, .count = count, .type = type});
  bench::fake_nccl::push(
      stream, [item] { return item->ready(); }, [item] { item->work(); });
  communicator->polls = kPolls;
  return kInProgress;
}

int ncclCommAbort(Communicator communicator) {
  while (communicator->rank->group->faults.abort_hangs) {
    std::this_thread::sleep_for(std::chrono::hours(1));
  }
  {
    const std::lock_guard lock(communicator->rank->group->mutex);
    communicator->rank->group->broken = true;
  }
  communicator->rank->aborted = true;
  delete communicator;
  return kSuccess;
}

const char* ncclGetErrorString(int result) {
  switch (result) {
    case kUnhandledCudaError:
      return "unhandled cuda error";
    case kInternalError:
      return "internal error";
    case kInvalidUsage:
      return "invalid usage";
    case kRemoteError:
      return "remote process exited or there was a network error";
    default:
      return "another error";
  }
}

}  // extern "C"
