// NCCL as the tests' processes have it: ranks are threads, streams are LateQueues. It insists on
// what NCCL insists on: a communicator is asked for its state until a call has been taken.
// FAKE_NCCL has its faults, by commas, read when a group begins:
//   init_never, init_error    communicators are never connected; cannot be
//   never:K                   all-reduce K, counted from 0, is never done
//   error:K, lost:K           all-reduce K fails: on rank 1; on all others, since rank 1 is lost
//   abort_hangs               ncclCommAbort does not return
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "kernels/nccl_library.h"
#include "variable_mgmt/collectives/test/late_queue.h"

namespace {

constexpr int kSuccess = bench::nccl::kSuccess;
constexpr int kInProgress = bench::nccl::kInProgress;
constexpr int kUnhandledCudaError = 1;
constexpr int kInternalError = 3;
constexpr int kInvalidArgument = 4;
constexpr int kInvalidUsage = 5;
constexpr int kRemoteError = 6;
constexpr int kVersion = 22809;
/// How often a call is still in progress when it is asked for.
constexpr int kPolls = 3;

struct Faults {
  bool init_never = false;
  bool init_error = false;
  bool abort_hangs = false;
  int never = -1;
  int error = -1;
  int lost = -1;
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
    const int number = at == std::string::npos ? 0 : std::stoi(word.substr(at + 1));
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
  std::size_t count = 0;
  std::vector<float*> ranks;
  bool done = false;
};

struct Group {
  explicit Group(Faults faults_of_group) : faults(faults_of_group) {}
  const Faults faults;
  std::mutex mutex;
  int ranks = 0;
  int joined = 0;
  std::deque<AllReduce> operations;
};

}  // namespace

struct bench::nccl::CommunicatorHandle {
  std::shared_ptr<Group> group;
  int rank = 0;
  int next = 0;
  int polls = kPolls;
  std::atomic<int> error = kSuccess;
  std::shared_ptr<std::atomic<bool>> aborted = std::make_shared<std::atomic<bool>>(false);
};

namespace {

using bench::nccl::Communicator;

std::mutex groups_mutex;
std::map<int, std::shared_ptr<Group>> groups;
int last_group = 0;

/// An all-reduce in a rank's stream.
struct Item {
  std::shared_ptr<Group> group;
  std::shared_ptr<std::atomic<bool>> aborted;
  int rank = 0;
  int number = 0;
  float* memory = nullptr;
  std::size_t count = 0;
  bool arrived = false;
};

void add(AllReduce& operation) {
  std::vector<float> sum(operation.count);
  for (const float* rank : operation.ranks) {
    for (std::size_t i = 0; i < operation.count; ++i) {
      sum[i] += rank[i];
    }
  }
  for (float* rank : operation.ranks) {
    std::memcpy(rank, sum.data(), operation.count * sizeof(float));
  }
  operation.done = true;
}

int step(void* argument) {
  auto* const item = static_cast<Item*>(argument);
  Group& group = *item->group;
  const std::lock_guard lock(group.mutex);
  const bool fails = item->number == group.faults.never || item->number == group.faults.error ||
                     item->number == group.faults.lost;
  if (!item->arrived && !fails) {
    while (group.operations.size() <= static_cast<std::size_t>(item->number)) {
      group.operations.emplace_back();
    }
    AllReduce& operation = group.operations[static_cast<std::size_t>(item->number)];
    operation.count = item->count;
    operation.ranks.push_back(item->memory);
    item->arrived = true;
    if (operation.ranks.size() == static_cast<std::size_t>(group.ranks)) {
      add(operation);
    }
  }
  const bool done =
      item->aborted->load() ||
      (item->arrived && group.operations[static_cast<std::size_t>(item->number)].done);
  return done ? 1 : 0;
}

void release(void* argument) { delete static_cast<Item*>(argument); }

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
  group->ranks = ranks;
  ++group->joined;
  *made = new bench::nccl::CommunicatorHandle;
  (*made)->group = group;
  (*made)->rank = rank;
  return kInProgress;
}

int ncclCommGetAsyncError(Communicator communicator, int* state) {
  const Group& group = *communicator->group;
  {
    const std::lock_guard lock(communicator->group->mutex);
    if (group.faults.init_never || group.joined < group.ranks) {
      *state = kInProgress;
      return kSuccess;
    }
  }
  if (communicator->polls > 0) {
    --communicator->polls;
    *state = kInProgress;
  } else {
    *state = communicator->error.load();
  }
  return kSuccess;
}

int ncclAllReduce(const void* from, void* to, std::size_t count, int type, int reduction,
                  Communicator communicator, void* stream) {
  if (communicator->polls > 0) {
    return kInvalidUsage;  // The call before has not been taken yet.
  }
  if (from != to || type != bench::nccl::kFloat32 || reduction != bench::nccl::kSum) {
    return kInvalidArgument;
  }
  const Faults& faults = communicator->group->faults;
  const int number = communicator->next++;
  if (number == faults.error && communicator->rank == 1) {
    communicator->error = kUnhandledCudaError;
  }
  if (number == faults.lost && communicator->rank != 1) {
    communicator->error = kRemoteError;
  }
  auto* const queue = static_cast<bench::LateQueue*>(stream);
  queue->push(queue->self, step, release,
              new Item{.group = communicator->group,
                       .aborted = communicator->aborted,
                       .rank = communicator->rank,
                       .number = number,
                       .memory = static_cast<float*>(to),
                       .count = count});
  communicator->polls = kPolls;
  return kInProgress;
}

int ncclCommAbort(Communicator communicator) {
  while (communicator->group->faults.abort_hangs) {
    std::this_thread::sleep_for(std::chrono::hours(1));
  }
  *communicator->aborted = true;
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
