#include <algorithm>
#include <cstring>

#include "kernels/gpu_emulator/lanes.h"
#include "models/base/errors.h"

namespace bench::cuda::emulator {
namespace {

std::string in_hex(unsigned mask) { return fmt::format("0x{:x}", mask); }

}  // namespace

bool same_place(const Place& a, const Place& b) {
  return a.line() == b.line() && a.column() == b.column() &&
         (a.file_name() == b.file_name() || std::strcmp(a.file_name(), b.file_name()) == 0);
}

std::string name_of(const Place& place) {
  return fmt::format("{}:{}", place.file_name(), place.line());
}

std::string block_name() {
  return fmt::format("kernel {}, block ({}, {}, {})", position.kernel, position.block.x,
                     position.block.y, position.block.z);
}

std::string Lanes::who(unsigned lane) const {
  const uint3 thread = lanes_[lane].thread;
  return fmt::format("{}, lane {} ({}, {}, {})", block_name(), lane, thread.x, thread.y, thread.z);
}

std::string Lanes::whereabouts(unsigned lane) const {
  const Lane& other = lanes_[lane];
  switch (other.state) {
    case Lane::State::ready:
      break;
    case Lane::State::at_block:
      return fmt::format("lane {} waits in __syncthreads at {}", lane, name_of(other.place));
    case Lane::State::at_warp:
      return fmt::format("lane {} waits for the lanes of mask {} at {}", lane, in_hex(other.mask),
                         name_of(other.place));
    case Lane::State::returned:
      return fmt::format("lane {} has returned", lane);
  }
  return fmt::format("lane {} runs", lane);
}

/// Names the first lane that waits for a warp, and a lane that does not arrive. If no lane waits
/// for a warp, names one at the barrier.
std::string Lanes::why_it_stands_still() const {
  for (unsigned lane = 0; lane < lanes_.size(); ++lane) {
    const Lane& waiting = lanes_[lane];
    for (unsigned bit = 0; waiting.state == Lane::State::at_warp && bit < kWarpLanes; ++bit) {
      const unsigned number = lane / kWarpLanes * kWarpLanes + bit;
      if ((waiting.mask >> bit & 1U) == 0) {
        continue;
      }
      const Lane& other = lanes_[number];
      if (other.state != Lane::State::at_warp || other.mask != waiting.mask ||
          !same_place(other.place, waiting.place)) {
        return fmt::format("{}: {}: waits forever for the lanes of mask {}: {}", who(lane),
                           name_of(waiting.place), in_hex(waiting.mask), whereabouts(number));
      }
    }
  }
  const auto returned = std::find_if(lanes_.begin(), lanes_.end(), [](const Lane& lane) {
    return lane.state == Lane::State::returned;
  });
  const auto number = static_cast<unsigned>(returned - lanes_.begin());
  return fmt::format("{}: {}: __syncthreads waits forever for all lanes: {}", who(first_at_block_),
                     name_of(lanes_[first_at_block_].place), whereabouts(number));
}

}  // namespace bench::cuda::emulator
