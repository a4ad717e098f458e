#include "variable_mgmt/collectives/nccl_collective.h"

#include <algorithm>
#include <deque>
#include <future>
#include <thread>
#include <type_traits>

#include "models/base/threads.h"
#include "variable_mgmt/collectives/host_communicator.h"

namespace bench {
namespace {

using std::chrono::steady_clock;

int nccl_type(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return nccl::kFloat16;
    case DType::f32:
      return nccl::kFloat32;
    case DType::f64:
      return nccl::kFloat64;
    case DType::bf16:
      return nccl::kBfloat16;
    default:
      throw InternalError(fmt::format("all-reduce: unsupported element type {}", name_of(dtype)));
  }
}

/// An NCCL communicator in which no call can hang.
class NcclCommunicator {
 public:
  NcclCommunicator(const nccl::Library& library, int ranks, const nccl::UniqueId& id, int rank)
      : library_(library) {
    nccl::Config config;
    config.blocking = 0;
    accept("ncclCommInitRankConfig", library.init_rank(&communicator_, ranks, id, rank, &config));
  }
  ~NcclCommunicator() { abort(); }
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  void all_reduce(const BufferView& view, const Stream& stream) {
    accept("ncclAllReduce",
           library_.all_reduce(view.data, view.data, view.elements, nccl_type(view.dtype),
                               nccl::kSum, communicator_, stream.native_handle()));
  }
  /// True if NCCL has fully accepted the last call. Throws DeviceError for a failure that NCCL
  /// reports.
  bool is_settled() {
    check(communicator_ != nullptr, "NCCL: the communicator was aborted");
    int state = nccl::kSuccess;
    accept("ncclCommGetAsyncError", library_.get_async_error(communicator_, &state));
    accept("an asynchronous NCCL operation", state);
    return state != nccl::kInProgress;
  }
  /// Ends operations in progress, so that streams continue. It needs no other rank, so it also ends
  /// a good run. If NCCL's abort does not return, it is abandoned.
  void abort() {
    if (communicator_ == nullptr) {
      return;
    }
    constexpr std::chrono::seconds kLongest{1};
    std::packaged_task<void()> task(
        [abort = library_.abort, handle = communicator_] { static_cast<void>(abort(handle)); });
    const std::future<void> done = task.get_future();
    communicator_ = nullptr;
    start_thread(std::move(task)).detach();
    static_cast<void>(done.wait_for(kLongest));
  }

 private:
  void accept(const char* call, int result) const {
    if (result != nccl::kSuccess && result != nccl::kInProgress) {
      throw DeviceError(library_.explain(call, result));
    }
  }

  const nccl::Library& library_;
  nccl::Communicator communicator_ = nullptr;
};

nccl::UniqueId make_id(const nccl::Library& library) {
  nccl::UniqueId id{};
  const int result = library.get_unique_id(&id);
  if (result != nccl::kSuccess) {
    throw UsageError(library.explain("ncclGetUniqueId", result));
  }
  return id;
}

nccl::UniqueId parse_id(const std::string& digits) {
  constexpr int kHexadecimal = 16;
  check(digits.size() == 2 * nccl::kIdBytes, "NCCL: the group's ID is incomplete");
  nccl::UniqueId id{};
  for (std::size_t i = 0; i < nccl::kIdBytes; ++i) {
    id.internal[i] = static_cast<char>(std::stoi(digits.substr(2 * i, 2), nullptr, kHexadecimal));
  }
  return id;
}

/// State that all members of this process share.
struct NcclShared {
  explicit NcclShared(NcclOptions given)
      : options(std::move(given)),
        library(options.library),
        id(options.group ? parse_id(options.group->id) : make_id(library)),
        communicator({.names = options.names}),
        waits(options.names.size()) {}

  /// The number of members of all processes.
  [[nodiscard]] int members() const {
    return options.group ? options.group->members : communicator.members();
  }
  /// The place of this process's first member among them.
  [[nodiscard]] int first() const { return options.group ? options.group->first : 0; }
  /// Throws Cancelled if a member has failed, here or in another process.
  void check_failure() {
    if (options.group) {
      if (const std::string failure = options.group->failure(); !failure.empty()) {
        communicator.cancel(communicator.local_members(), failure);
      }
    }
    communicator.check_failure();
  }

  NcclOptions options;
  nccl::Library library;
  nccl::UniqueId id;
  HostCommunicator communicator;
  /// How often each member has begun to wait for its stream.
  std::vector<std::atomic<std::uint64_t>> waits;
};

class NcclMember final : public CollectiveMember {
 public:
  NcclMember(NcclShared& shared, int rank, Backend& backend, Stream& stream)
      : shared_(shared),
        rank_(rank),
        backend_(backend),
        stream_(stream),
        beside_(backend.make_urgent_stream()),
        communicator_(shared.library, shared.members(), shared.id, shared.first() + rank) {}
  ~NcclMember() override {
    if (!active_.empty()) {
      communicator().cancel(rank_, "left before its gradients were reduced");
    }
    communicator().leave(rank_);
    communicator_.abort();
    if (joined_) {
      // The member's stream waits for events of this stream.
      finish(*beside_);
      finish(stream_);
    }
  }

  Handle start(const BufferView& view) override {
    return or_abort([&] {
      const auto deadline = steady_clock::now() + shared_.options.connect_timeout;
      settle("is not connected", deadline);
      active_.push_back({.operation = &communicator().enter(rank_, view),
                         .ready = take_event(),
                         .done = take_event()});
      const Active& active = active_.back();
      stream_.record(*active.ready);
      beside_->wait(*active.ready);
      communicator_.all_reduce(view, *beside_);
      active.operation->states[static_cast<std::size_t>(rank_)].arrived.store(true);
      settle("has not started the operation", deadline);
      beside_->record(*active.done);
      return next_++;
    });
  }
  void wait(Handle handle, const Patience& patience) override {
    check(handle < next_, "all-reduce: the handle was never started");
    if (is_done(handle)) {
      return;
    }
    or_abort([&] {
      for (advance(); !is_done(handle); advance()) {
        check_patience(active_[handle - done_], patience);
        glance(*active_.front().done, patience);
      }
    });
  }

  [[nodiscard]] bool can_join() const override { return true; }
  void join() override {
    or_abort([&] {
      while (!active_.empty()) {
        retire_first();
      }
      joined_ = true;
    });
  }
  void wait_for_stream(const Patience& patience) override {
    or_abort([&] {
      const std::uint64_t number = ++shared_.waits[static_cast<std::size_t>(rank_)];
      std::unique_ptr<Event> all_done = take_event();
      stream_.record(*all_done);
      while (!all_done->done()) {
        shared_.check_failure();
        communicator_.is_settled();
        if (is_over(patience)) {
          throw DeviceError(fmt::format("a step that reduces gradients with NCCL {}{}",
                                        how_it_ended(patience), whoever_is_missing(number)));
        }
        glance(*all_done, patience);
      }
      events_.push_back(std::move(all_done));
    });
  }
  void abandon() noexcept override { communicator_.abort(); }

 private:
  [[nodiscard]] const char* all_have_come() const {
    return shared_.options.group ? ", although every tower of this process has arrived"
                                 : ", although every tower has arrived";
  }

  struct Active {
    Operation* operation;
    /// `ready`: the buffer view is complete. `done`: the sums are.
    std::unique_ptr<Event> ready;
    std::unique_ptr<Event> done;
  };

  [[nodiscard]] HostCommunicator& communicator() const { return shared_.communicator; }
  [[nodiscard]] bool is_done(Handle handle) const { return handle < done_; }
  std::unique_ptr<Event> take_event() {
    if (events_.empty()) {
      return backend_.make_event();
    }
    auto event = std::move(events_.back());
    events_.pop_back();
    return event;
  }
  /// Returns work(). If it throws, cancels the others and ends this member's kernels.
  template <class Work>
  std::invoke_result_t<Work> or_abort(const Work& work) {
    try {
      shared_.check_failure();
      return work();
    } catch (const std::exception& error) {
      communicator().cancel(rank_, error.what());  // The first failure is kept.
      communicator_.abort();
      throw;
    }
  }
  void settle(std::string_view what, steady_clock::time_point deadline) {
    while (!communicator_.is_settled()) {
      shared_.check_failure();
      if (steady_clock::now() >= deadline) {
        throw DeviceError(fmt::format("NCCL {} after {} ms{}", what,
                                      shared_.options.connect_timeout.count(), missing()));
      }
      std::this_thread::yield();
    }
  }
  void advance() {
    shared_.check_failure();
    communicator_.is_settled();
    while (!active_.empty() && active_.front().done->done()) {
      retire_first();
    }
  }
  /// Later work on the member's stream then sees the sums.
  void retire_first() {
    Active first = std::move(active_.front());
    active_.pop_front();
    stream_.wait(*first.done);
    communicator().release(*first.operation);
    events_.push_back(std::move(first.ready));
    events_.push_back(std::move(first.done));
    ++done_;
  }
  /// Waits briefly for an event, so that the caller can poll everything else.
  static void glance(Event& event, const Patience& patience) {
    constexpr std::chrono::milliseconds kGlance{1};
    event.wait({.deadline = std::min<steady_clock::time_point>(patience.deadline,
                                                               steady_clock::now() + kGlance)});
  }
  static bool is_over(const Patience& patience) {
    return (patience.cancelled && patience.cancelled()) || steady_clock::now() >= patience.deadline;
  }
  static std::string_view how_it_ended(const Patience& patience) {
    return steady_clock::now() >= patience.deadline ? "missed its deadline" : "was cancelled";
  }
  void check_patience(const Active& active, const Patience& patience) const {
    if (!is_over(patience)) {
      return;
    }
    const std::string away = missing(*active.operation);
    throw DeviceError(fmt::format("all-reduce {} of {} {} elements by NCCL {}{}",
                                  active.operation->number, active.operation->elements,
                                  name_of(active.operation->dtype), how_it_ended(patience),
                                  away.empty() ? all_have_come() : away));
  }
  /// The members that have begun fewer waits.
  [[nodiscard]] std::string whoever_is_missing(std::uint64_t waits) const {
    std::string text;
    for (int rank = 0; rank < communicator().members(); ++rank) {
      if (shared_.waits[static_cast<std::size_t>(rank)] < waits) {
        text += text.empty() ? ": " : ", ";
        text += fmt::format("{} has not arrived", communicator().name(rank));
      }
    }
    return text.empty() ? all_have_come() : text;
  }
  /// ": tower 1 has not arrived"; empty if all have.
  [[nodiscard]] std::string missing(const Operation& operation) const {
    std::string text;
    for (int rank = 0; rank < communicator().members(); ++rank) {
      if (!operation.states[static_cast<std::size_t>(rank)].arrived.load()) {
        text += text.empty() ? ": " : ", ";
        text += fmt::format("{} has not arrived", communicator().name(rank));
      }
    }
    return text;
  }
  [[nodiscard]] std::string missing() const {
    return active_.empty() ? "" : missing(*active_.back().operation);
  }

  NcclShared& shared_;
  const int rank_;
  Backend& backend_;
  Stream& stream_;
  std::vector<std::unique_ptr<Event>> events_;
  std::deque<Active> active_;
  /// Destroyed before the events that its work uses, and after the communicator.
  const std::unique_ptr<Stream> beside_;
  NcclCommunicator communicator_;
  Handle next_ = 0;
  Handle done_ = 0;
  bool joined_ = false;
};

class NcclCollective final : public Collective {
 public:
  explicit NcclCollective(NcclOptions options) : shared_(std::move(options)) {}
  [[nodiscard]] int members() const override { return shared_.communicator.members(); }
  std::unique_ptr<CollectiveMember> join(int rank, Backend& backend, Stream& stream) override {
    check(rank >= 0 && rank < members(),
          fmt::format("collective: rank {} is outside the {} members", rank, members()));
    if (stream.native_handle() == nullptr) {
      throw UsageError(
          fmt::format("all-reduce nccl: the device {} is not an NVIDIA GPU", backend.name()));
    }
    try {
      return std::make_unique<NcclMember>(shared_, rank, backend, stream);
    } catch (const std::exception& error) {
      cancel(rank, error.what());
      throw;
    }
  }
  void cancel(int rank, const std::string& reason) noexcept override {
    shared_.communicator.cancel(rank, reason);
  }
  [[nodiscard]] std::string failure() const override { return shared_.communicator.failure(); }

 private:
  NcclShared shared_;
};

}  // namespace

std::string new_nccl_id(const std::string& library) {
  std::string digits;
  for (const char byte : make_id(nccl::Library(library)).internal) {
    digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  return digits;
}

std::unique_ptr<Collective> make_nccl_collective(NcclOptions options) {
  return std::make_unique<NcclCollective>(std::move(options));
}

std::unique_ptr<Collective> make_collective(CollectiveOptions options,
                                            std::chrono::milliseconds nccl_timeout) {
  if (!adds_by_nccl(options.spec)) {
    return make_host_collective(std::move(options));
  }
  NcclOptions nccl;
  nccl.names = std::move(options.names);
  nccl.connect_timeout = nccl_timeout;
  return make_nccl_collective(std::move(nccl));
}

}  // namespace bench
