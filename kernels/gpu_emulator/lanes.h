#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/gpu_emulator/block.h"
#include "kernels/gpu_emulator/fiber.h"
#include "kernels/gpu_emulator/memory.h"

namespace bench::cuda::emulator {

/// Settings of one run of a kernel.
struct KernelPass {
  // The seed, as in set_lane_order.
  std::uint64_t lane_order = 0;
  std::uint64_t block_order = 0;
  /// The byte that fills shared memory before a block starts.
  unsigned char shared_fill = kNaNByte;
};

bool same_place(const Place& a, const Place& b);
/// Formats the place as "file:line".
std::string name_of(const Place& place);
/// The kernel and the block that this thread runs.
std::string block_name();

/// A lane's state, and what it waits for.
struct Lane {
  enum class State : std::uint8_t { ready, at_block, at_warp, returned };
  State state = State::ready;
  /// Null before it begins and after it has returned.
  Fiber* fiber = nullptr;
  uint3 thread = {};
  /// The lane's position in the block's order.
  unsigned turn = 0;
  // The barrier, shuffle or vote that it waits in.
  Place place = {};
  unsigned mask = 0;
  std::uint64_t value = 0;
  unsigned source = 0;
  /// The result of its last barrier, shuffle or vote.
  std::uint64_t result = 0;
};

/// The lanes that can run, by their turn.
class ReadyTurns {
 public:
  void add(unsigned turn) { words_[turn / 64] |= std::uint64_t{1} << turn % 64; }
  void remove(unsigned turn) { words_[turn / 64] &= ~(std::uint64_t{1} << turn % 64); }
  /// Adds the turns below `count` and removes all others.
  void fill(unsigned count);
  /// The first ready turn from `from` on, then from the start; kMostLanes if no lane is ready.
  [[nodiscard]] unsigned next(unsigned from) const;

 private:
  [[nodiscard]] unsigned first_in(unsigned from, unsigned words) const;
  std::array<std::uint64_t, kMostLanes / 64> words_ = {};
};

/// Runs the lanes of one block after another, all on the thread that made it. A lane that never
/// waits reuses a fiber of earlier lanes: only waiting lanes need separate fibers.
class Lanes {
 public:
  Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;
  ~Lanes();

  void run_kernel(const KernelShape& shape, const std::function<void()>& body,
                  const KernelPass& pass);

  // Calls of the current lane.
  void meet_block(Place place);
  std::uint64_t meet_warp(unsigned mask, std::uint64_t value, unsigned source, Place place);
  void enter_shared(unsigned char* memory, std::size_t bytes, Place place);

 private:
  /// A barrier among lanes of a warp.
  struct WarpBarrier {
    Place place;
    unsigned mask = 0;
    unsigned arrived = 0;
  };
  struct SharedMemory {
    unsigned char* memory = nullptr;
    std::size_t bytes = 0;
    Place place = {};
  };

  void prepare(dim3 block);
  void order_lanes(std::uint64_t seed, std::uint64_t block);
  void run_block();
  Fiber& work(Fiber& own);
  void run_current();
  void park();
  Fiber& fiber_of(unsigned lane);
  bool pick();
  bool open_barrier();
  void complete(unsigned warp, const WarpBarrier& barrier);
  void cancel();
  void check_guards() const;
  // Parts of messages.
  [[nodiscard]] std::string why_it_stands_still() const;
  [[nodiscard]] std::string whereabouts(unsigned lane) const;
  [[nodiscard]] std::string who(unsigned lane) const;

  const std::function<void()>* body_ = nullptr;
  std::vector<Lane> lanes_;
  /// Lanes by turn.
  std::vector<unsigned> order_;
  ReadyTurns ready_;
  std::vector<std::vector<WarpBarrier>> warp_barriers_;
  std::vector<SharedMemory> shared_;
  unsigned char shared_fill_ = kNaNByte;
  /// True if the first ready lane runs next, false if the one after the last lane does.
  bool eager_ = false;
  unsigned current_ = 0;
  unsigned at_block_ = 0;
  unsigned first_at_block_ = 0;
  unsigned returned_ = 0;
  bool cancelled_ = false;
  bool retired_ = false;
  std::string error_;

  Fiber thread_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_;
};

}  // namespace bench::cuda::emulator
