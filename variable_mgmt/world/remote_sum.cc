#include "variable_mgmt/world/remote_sum.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "models/base/errors.h"
#include "variable_mgmt/collectives/host_communicator.h"
#include "variable_mgmt/collectives/nccl_collective.h"
#include "variable_mgmt/collectives/reduce.h"
#include "variable_mgmt/world/tags.h"

namespace bench {
namespace {

/// A range of elements.
struct Part {
  std::size_t begin = 0;
  std::size_t count = 0;
};

/// Part `number` of `parts` of `elements`. All parts but the last are multiples of a cache line.
Part part_of(std::size_t elements, int number, int parts) {
  constexpr std::size_t kLine = 64;
  const std::size_t each = (elements / static_cast<std::size_t>(parts) + kLine - 1) / kLine * kLine;
  const std::size_t begin = std::min(elements, each * static_cast<std::size_t>(number));
  const std::size_t end = number + 1 == parts ? elements : std::min(elements, begin + each);
  return {.begin = begin, .count = end - begin};
}

/// The number of the next operation that MPI adds, which must be the same on all processes. Only
/// the world's thread uses it.
using MpiTurn = std::shared_ptr<std::uint64_t>;

/// The memory of one all-reduce of a step, kept from step to step.
struct SumBuffers {
  std::vector<std::byte> sum = {};
  /// The own part from each rank.
  std::vector<std::byte> received = {};
};

/// Adds one process's sum to those of the others.
class SumTask final : public WorldTask {
 public:
  SumTask(HostCommunicator& communicator, Operation& operation, const World& world,
          std::shared_ptr<SumBuffers> buffers, MpiTurn turn)
      : communicator_(communicator),
        operation_(operation),
        rank_(world.rank()),
        size_(world.size()),
        buffers_(std::move(buffers)),
        turn_(std::move(turn)) {
    buffers_->sum.resize(operation.elements * width());
    if (turn_ == nullptr) {
      buffers_->received.resize(static_cast<std::size_t>(size_) * bytes_of(own()));
    }
  }

  State advance(Transport& transport) override {
    if (communicator_.failed()) {
      return requests_.empty() ? State::done : State::abandoned;
    }
    switch (stage_) {
      case Stage::waiting:
        return begin(transport);
      case Stage::sending_parts:
        return wait(transport, [&] { send_sums(transport); });
      case Stage::receiving_sums:
        return wait(transport, [&] { finish(); });
      case Stage::done:
        break;
    }
    return State::done;
  }

  void cancel(const std::string& reason) noexcept override {
    communicator_.cancel(communicator_.local_members(), reason);
  }

 private:
  enum class Stage : std::uint8_t { waiting, sending_parts, receiving_sums, done };

  [[nodiscard]] std::size_t width() const { return size_of(operation_.dtype); }
  [[nodiscard]] Part part(int rank) const { return part_of(operation_.elements, rank, size_); }
  [[nodiscard]] Part own() const { return part(rank_); }
  [[nodiscard]] std::size_t bytes_of(const Part& part) const { return part.count * width(); }
  [[nodiscard]] std::span<std::byte> place_of(const Part& part) {
    return std::span(buffers_->sum).subspan(part.begin * width(), bytes_of(part));
  }
  [[nodiscard]] std::span<std::byte> received_from(int peer) {
    const std::size_t bytes = bytes_of(own());
    return std::span(buffers_->received).subspan(static_cast<std::size_t>(peer) * bytes, bytes);
  }
  [[nodiscard]] int first_tag() const {
    return tag::kFirstPart + 2 * static_cast<int>(operation_.number % tag::kPartTags);
  }

  State begin(Transport& transport) {
    const auto& steps = (*operation_.schedule)[static_cast<std::size_t>(local())].front();
    const bool ready =
        operation_.arrived.load() == communicator_.members() &&
        std::all_of(steps.after.begin(), steps.after.end(), [&](const ReduceStep::After& after) {
          return operation_.states[static_cast<std::size_t>(after.rank)].steps.load() >=
                 after.steps;
        });
    const bool has_turn = turn_ == nullptr || *turn_ == operation_.number;
    if (!ready || !has_turn || !copy_from_towers()) {
      return State::idle;
    }
    if (turn_ != nullptr) {
      requests_.push_back(transport.all_reduce(operation_.dtype, buffers_->sum));
      ++*turn_;
      stage_ = Stage::receiving_sums;
      return State::working;
    }
    for (int peer = 0; peer < size_; ++peer) {
      if (peer != rank_) {
        requests_.push_back(transport.receive(peer, first_tag(), received_from(peer)));
        requests_.push_back(transport.send(peer, first_tag(), place_of(part(peer))));
      }
    }
    stage_ = Stage::sending_parts;
    return State::working;
  }

  /// Continues with `next` once all requests are done.
  template <class Next>
  State wait(Transport& transport, const Next& next) {
    const bool moved = drop_done(transport, requests_);
    if (!requests_.empty()) {
      return moved ? State::working : State::idle;
    }
    next();
    return stage_ == Stage::done ? State::done : State::working;
  }

  void send_sums(Transport& transport) {
    std::vector<const void*> sources;
    for (int rank = 0; rank < size_; ++rank) {
      sources.push_back(rank == rank_ ? place_of(own()).data() : received_from(rank).data());
    }
    void* const target = place_of(own()).data();
    reduce({.dtype = operation_.dtype,
            .count = own().count,
            .sources = sources,
            .targets = std::span(&target, 1)});
    for (int peer = 0; peer < size_; ++peer) {
      if (peer != rank_) {
        requests_.push_back(transport.receive(peer, first_tag() + 1, place_of(part(peer))));
        requests_.push_back(transport.send(peer, first_tag() + 1, place_of(own())));
      }
    }
    stage_ = Stage::receiving_sums;
  }

  /// Gives the sum to the towers.
  void finish() {
    if (!communicator_.begin_work(local())) {
      stage_ = Stage::done;
      return;
    }
    for (int tower = 0; tower < local(); ++tower) {
      std::memcpy(operation_.states[static_cast<std::size_t>(tower)].memory, buffers_->sum.data(),
                  buffers_->sum.size());
    }
    communicator_.end_work(local());
    stage_ = Stage::done;
    operation_.states[static_cast<std::size_t>(local())].steps.store(1);
    // The towers release the operation after `finished`, so it is not used after that.
    communicator_.release(operation_);
    ++operation_.finished;
    communicator_.signal();
  }

  /// Copies each tower's slice of the process's sum. Returns false after a failure.
  bool copy_from_towers() {
    if (!communicator_.begin_work(local())) {
      return false;
    }
    for (int tower = 0; tower < local(); ++tower) {
      const Part slice = part_of(operation_.elements, tower, local());
      std::memcpy(place_of(slice).data(),
                  operation_.states[static_cast<std::size_t>(tower)].memory + slice.begin * width(),
                  bytes_of(slice));
    }
    communicator_.end_work(local());
    return true;
  }

  /// The number of towers of this process, which is also the remote member's rank.
  [[nodiscard]] int local() const { return communicator_.local_members(); }

  HostCommunicator& communicator_;
  Operation& operation_;
  const int rank_;
  const int size_;
  Stage stage_ = Stage::waiting;
  const std::shared_ptr<SumBuffers> buffers_;
  /// Null unless MPI adds.
  const MpiTurn turn_;
  std::vector<Transport::Request> requests_;
};

class RemoteSum final : public RemoteMember {
 public:
  RemoteSum(World& world, bool by_mpi)
      : world_(world), turn_(by_mpi ? std::make_shared<std::uint64_t>(0) : nullptr) {}

  [[nodiscard]] Schedule plan(int towers, std::size_t elements) const override {
    Schedule schedule(static_cast<std::size_t>(towers) + 1);
    ReduceStep exchange{.begin = 0, .count = elements, .sources = {}, .targets = {}};
    std::vector<int> all;
    for (int tower = 0; tower < towers; ++tower) {
      all.push_back(tower);
    }
    for (int tower = 0; tower < towers && towers > 1; ++tower) {
      const Part slice = part_of(elements, tower, towers);
      schedule[static_cast<std::size_t>(tower)].push_back(
          {.begin = slice.begin, .count = slice.count, .sources = all, .targets = {tower}});
      exchange.after.push_back({.rank = tower, .steps = 1});
    }
    schedule.back().push_back(std::move(exchange));
    return schedule;
  }

  void begin(HostCommunicator& communicator, Operation& operation) override {
    std::shared_ptr<SumBuffers> buffers;
    {
      const std::lock_guard lock(mutex_);
      // An index recurs only after its previous sum is done, unless the same index is used twice.
      auto& kept = buffers_[operation.index];
      if (kept == nullptr || kept.use_count() > 1) {
        kept = std::make_shared<SumBuffers>();
      }
      buffers = kept;
    }
    world_.submit(
        std::make_shared<SumTask>(communicator, operation, world_, std::move(buffers), turn_));
  }

  void leave() override { world_.synchronize(); }

 private:
  World& world_;
  const MpiTurn turn_;
  std::mutex mutex_;
  std::map<std::size_t, std::shared_ptr<SumBuffers>> buffers_;
};

}  // namespace

std::unique_ptr<Collective> make_world_collective(World& world, CollectiveOptions options,
                                                  std::chrono::milliseconds nccl_timeout,
                                                  std::string nccl_id) {
  if (adds_by_nccl(options.spec)) {
    if (nccl_id.empty()) {
      nccl_id = world.gather(world.rank() == 0 ? new_nccl_id() : "").front();
    }
    const auto towers = static_cast<int>(options.names.size());
    return make_nccl_collective(
        {.names = std::move(options.names),
         .group = NcclGroup{.members = towers * world.workers(),
                            .first = towers * world.rank(),
                            .id = std::move(nccl_id),
                            .failure = [&world] { return world.failure(); }},
         .connect_timeout = nccl_timeout});
  }
  const bool by_mpi = adds_by_mpi(options.spec);
  check(by_mpi || options.spec.empty(), "world: an algorithm of one process was given");
  options.spec.clear();
  options.remote = std::make_shared<RemoteSum>(world, by_mpi);
  return make_host_collective(std::move(options));
}

}  // namespace bench
