#include "kernels/gpu_emulator/lanes.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#include "kernels/gpu_emulator/random.h"
#include "models/base/errors.h"

namespace bench::cuda::emulator {
namespace {

/// Ends a lane whose block has failed.
struct Cancelled {};

/// Sets the running kernel in `position`.
class RunningKernel {
 public:
  explicit RunningKernel(const char* kernel) { position.kernel = kernel; }
  RunningKernel(const RunningKernel&) = delete;
  RunningKernel& operator=(const RunningKernel&) = delete;
  ~RunningKernel() { position.kernel = nullptr; }
};

}  // namespace

void ReadyTurns::fill(unsigned count) {
  for (unsigned word = 0; word < words_.size(); ++word) {
    const unsigned begin = word * 64;
    const unsigned here = std::clamp(count, begin, begin + 64) - begin;
    words_[word] = here == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1;
  }
}

unsigned ReadyTurns::first_in(unsigned from, unsigned words) const {
  std::uint64_t masked = words_[from / 64] & ~std::uint64_t{0} << from % 64;
  for (unsigned word = from / 64;; masked = words_[word]) {
    if (masked != 0) {
      return word * 64 + static_cast<unsigned>(std::countr_zero(masked));
    }
    if (++word >= words) {
      return kMostLanes;
    }
  }
}

unsigned ReadyTurns::next(unsigned from) const {
  constexpr unsigned kWords = kMostLanes / 64;
  const unsigned found = from < kMostLanes ? first_in(from, kWords) : kMostLanes;
  return found < kMostLanes || from == 0 ? found : first_in(0, kWords);
}

Lanes::Lanes() = default;

Lanes::~Lanes() {
  retired_ = true;
  for (Fiber* fiber : idle_) {
    thread_.switch_to(*fiber);
  }
}

void Lanes::prepare(dim3 block) {
  const unsigned count = block.x * block.y * block.z;
  lanes_.assign(count, Lane{});
  for (unsigned lane = 0; lane < count; ++lane) {
    lanes_[lane].thread = {lane % block.x, lane / block.x % block.y, lane / block.x / block.y};
  }
  warp_barriers_.assign((count + kWarpLanes - 1) / kWarpLanes, {});
  order_.resize(count);
}

void Lanes::order_lanes(std::uint64_t seed, std::uint64_t block) {
  const auto count = static_cast<unsigned>(order_.size());
  std::iota(order_.begin(), order_.end(), 0U);
  eager_ = seed == 1;
  if (seed == 1) {
    std::reverse(order_.begin(), order_.end());
  } else if (seed > 1) {
    Random draw(seed ^ mixed(block));
    eager_ = draw.below(2) == 0;
    for (unsigned turn = count; turn > 1; --turn) {
      std::swap(order_[turn - 1], order_[draw.below(turn)]);
    }
    if (eager_) {
      // Warp by warp, so that one warp runs ahead of the others.
      const auto salt = static_cast<unsigned>(draw.below(warp_barriers_.size() + 1));
      std::stable_sort(order_.begin(), order_.end(), [&](unsigned a, unsigned b) {
        return (a / kWarpLanes ^ salt) < (b / kWarpLanes ^ salt);
      });
    }
  }
  for (unsigned turn = 0; turn < count; ++turn) {
    lanes_[order_[turn]].turn = turn;
  }
}

void Lanes::run_kernel(const KernelShape& shape, const std::function<void()>& body,
                       const KernelPass& pass) {
  check(position.kernel == nullptr, "a kernel launched another kernel");
  prepare(shape.block);
  body_ = &body;
  shared_fill_ = pass.shared_fill;
  const RunningKernel running(shape.kernel);
  position.block_dim = shape.block;
  position.grid_dim = shape.grid;
  const std::uint64_t blocks = std::uint64_t{shape.grid.x} * shape.grid.y * shape.grid.z;
  const Permutation blocks_in_order(blocks, pass.block_order);
  for (std::uint64_t turn = 0; turn < blocks; ++turn) {
    const std::uint64_t block = pass.block_order == 1 ? blocks - 1 - turn : blocks_in_order(turn);
    position.block = {static_cast<unsigned>(block % shape.grid.x),
                      static_cast<unsigned>(block / shape.grid.x % shape.grid.y),
                      static_cast<unsigned>(block / shape.grid.x / shape.grid.y)};
    if (turn == 0 || pass.lane_order > 1) {
      order_lanes(pass.lane_order, block);
    }
    run_block();
  }
}

void Lanes::run_block() {
  ++position.block_count;
  shared_.clear();
  for (Lane& lane : lanes_) {
    lane.state = Lane::State::ready;
  }
  ready_.fill(static_cast<unsigned>(lanes_.size()));
  at_block_ = 0;
  returned_ = 0;
  current_ = order_.back();
  error_.clear();
  cancelled_ = false;
  if (pick()) {
    thread_.switch_to(fiber_of(current_));
  }
  if (!error_.empty()) {
    cancel();
    throw InternalError(error_);
  }
  check_guards();
}

/// The body of a fiber: runs lanes from start to end until only lanes of other fibers are left.
Fiber& Lanes::work(Fiber& own) {
  while (!retired_) {
    run_current();
    Fiber* next = &thread_;
    if (pick()) {
      if (lanes_[current_].fiber == nullptr) {
        lanes_[current_].fiber = &own;
        continue;
      }
      next = lanes_[current_].fiber;
    }
    idle_.push_back(&own);
    own.switch_to(*next);
  }
  return thread_;
}

void Lanes::run_current() {
  try {
    (*body_)();
  } catch (const Cancelled&) {
  } catch (const std::exception& error) {
    error_ = fmt::format("{}: {}", who(current_), error.what());
  } catch (...) {
    error_ = fmt::format("{}: threw an exception of an unknown type", who(current_));
  }
  Lane& lane = lanes_[current_];
  lane.state = Lane::State::returned;
  lane.fiber = nullptr;
  ++returned_;
}

Fiber& Lanes::fiber_of(unsigned lane) {
  Fiber*& fiber = lanes_[lane].fiber;
  if (fiber == nullptr) {
    if (idle_.empty()) {
      // The body needs a reference to its fiber, which does not exist yet.
      auto own = std::make_shared<Fiber*>(nullptr);
      fibers_.push_back(std::make_unique<Fiber>([this, own]() -> Fiber& { return work(**own); }));
      *own = fibers_.back().get();
      idle_.push_back(*own);
    }
    fiber = idle_.back();
    idle_.pop_back();
  }
  return *fiber;
}

/// Picks the next lane and makes it the current one; returns false if no lane can run. This is so
/// when all lanes have returned, or after an error.
bool Lanes::pick() {
  if (cancelled_ || !error_.empty()) {
    return false;
  }
  unsigned turn = ready_.next(eager_ ? 0 : lanes_[current_].turn + 1);
  if (turn == kMostLanes && open_barrier()) {
    turn = ready_.next(0);
  }
  if (turn == kMostLanes) {
    if (returned_ < lanes_.size()) {
      error_ = why_it_stands_still();
    }
    return false;
  }
  ready_.remove(turn);
  current_ = order_[turn];
  position.lane = current_;
  position.thread = lanes_[current_].thread;
  return true;
}

/// Suspends the current lane until it is made ready and picked.
void Lanes::park() {
  const unsigned self = current_;
  Fiber& own = *lanes_[self].fiber;
  Fiber* next = pick() ? &fiber_of(current_) : &thread_;
  if (next != &own) {
    own.switch_to(*next);
  }
  if (cancelled_) {
    throw Cancelled{};
  }
}

bool Lanes::open_barrier() {
  if (at_block_ < lanes_.size()) {
    return false;
  }
  for (Lane& lane : lanes_) {
    lane.state = Lane::State::ready;
  }
  ready_.fill(at_block_);
  at_block_ = 0;
  return true;
}

void Lanes::meet_block(Place place) {
  if (at_block_ == 0) {
    first_at_block_ = current_;
  } else if (!same_place(lanes_[first_at_block_].place, place)) {
    throw InternalError(
        fmt::format("{}: __syncthreads was called while {}; all lanes must reach the same barrier",
                    name_of(place), whereabouts(first_at_block_)));
  }
  Lane& lane = lanes_[current_];
  lane.state = Lane::State::at_block;
  lane.place = place;
  ++at_block_;
  park();
}

std::uint64_t Lanes::meet_warp(unsigned mask, std::uint64_t value, unsigned source, Place place) {
  const unsigned warp = current_ / kWarpLanes;
  const unsigned bit = 1U << current_ % kWarpLanes;
  const auto refuse = [&](const std::string& why) {
    throw InternalError(fmt::format("{}: the mask 0x{:x} {}", name_of(place), mask, why));
  };
  if ((mask & bit) == 0) {
    refuse("does not include the calling lane");
  }
  if (source < kWarpLanes && (mask >> source & 1U) == 0) {
    refuse(fmt::format("does not include lane {} of the warp, which the shuffle reads", source));
  }
  // NOLINTNEXTLINE(bugprone-implicit-widening-of-multiplication-result)
  const std::size_t existing = std::min<std::size_t>(kWarpLanes, lanes_.size() - warp * kWarpLanes);
  if (existing < kWarpLanes && mask >> existing != 0) {
    refuse(fmt::format("includes lanes that the block does not have: the warp has {} lanes",
                       existing));
  }
  Lane& lane = lanes_[current_];
  lane.place = place;
  lane.mask = mask;
  lane.value = value;
  lane.source = source;
  std::vector<WarpBarrier>& barriers = warp_barriers_[warp];
  auto barrier = std::find_if(barriers.begin(), barriers.end(), [&](const WarpBarrier& other) {
    return other.mask == mask && same_place(other.place, place);
  });
  if (barrier == barriers.end()) {
    barrier = barriers.insert(barrier, {.place = place, .mask = mask});
  }
  barrier->arrived |= bit;
  if (barrier->arrived == mask) {
    const WarpBarrier full = *barrier;
    barriers.erase(barrier);
    complete(warp, full);
  } else {
    lane.state = Lane::State::at_warp;
    park();
  }
  return lanes_[warp * kWarpLanes + static_cast<unsigned>(std::countr_zero(bit))].result;
}

/// Gives each lane its result. All lanes become ready except the current one, which has not parked.
void Lanes::complete(unsigned warp, const WarpBarrier& barrier) {
  // NOLINTNEXTLINE(bugprone-implicit-widening-of-multiplication-result)
  Lane* first = &lanes_[warp * kWarpLanes];
  std::uint64_t votes = 0;
  for (unsigned left = barrier.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    votes |= std::uint64_t{first[lane].value != 0} << lane;
  }
  for (unsigned left = barrier.mask; left != 0; left &= left - 1) {
    Lane& lane = first[std::countr_zero(left)];
    lane.result = lane.source < kWarpLanes ? first[lane.source].value : votes;
    if (lane.state == Lane::State::at_warp) {
      lane.state = Lane::State::ready;
      ready_.add(lane.turn);
    }
  }
}

void Lanes::enter_shared(unsigned char* memory, std::size_t bytes, Place place) {
  shared_.push_back({.memory = memory, .bytes = bytes, .place = place});
  std::memset(memory, shared_fill_, bytes + kSharedGuardBytes);
  const std::size_t sum = std::accumulate(
      shared_.begin(), shared_.end(), std::size_t{0},
      [](std::size_t so_far, const SharedMemory& room) { return so_far + room.bytes; });
  if (sum > kSharedBytes) {
    throw InternalError(fmt::format("{}: the block uses {} bytes of shared memory, but has {}",
                                    name_of(place), sum, kSharedBytes));
  }
}

/// Ends the waiting lanes, so that their fibers can run others.
void Lanes::cancel() {
  cancelled_ = true;
  for (unsigned lane = 0; lane < lanes_.size(); ++lane) {
    if (lanes_[lane].fiber != nullptr) {
      current_ = lane;
      thread_.switch_to(*lanes_[lane].fiber);
    }
  }
  for (std::vector<WarpBarrier>& barriers : warp_barriers_) {
    barriers.clear();
  }
}

void Lanes::check_guards() const {
  for (const SharedMemory& room : shared_) {
    const unsigned char* guard = room.memory + room.bytes;
    const unsigned char* changed = std::find_if(
        guard, guard + kSharedGuardBytes, [&](unsigned char byte) { return byte != shared_fill_; });
    if (changed != guard + kSharedGuardBytes) {
      throw InternalError(
          fmt::format("{}: {}: a lane wrote {} bytes past the end of this shared memory",
                      block_name(), name_of(room.place), changed - guard));
    }
  }
}

}  // namespace bench::cuda::emulator
