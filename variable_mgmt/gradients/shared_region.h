#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "variable_mgmt/gradients/peer_sum.h"
#include "variable_mgmt/towers/barrier.h"
#include "variable_mgmt/towers/tower.h"

namespace bench {

/// Elements first..last-1 of a flat region.
struct RegionRange {
  std::size_t first = 0;
  std::size_t last = 0;
  [[nodiscard]] std::size_t count() const { return last - first; }
};

/// The end of the last segment: the number of elements of a flat region.
std::size_t end_of(std::span<const OptimizerSegment> segments);
/// Partitions a flat region between towers, in order, into parts of about equal size with
/// boundaries between segments. Some parts are empty if there are fewer segments than towers.
std::vector<RegionRange> divide_region(std::span<const OptimizerSegment> segments, int towers);
/// Assigns the whole region to the first tower.
std::vector<RegionRange> whole_region(std::span<const OptimizerSegment> segments, int towers);

/// The same flat region (f32 or f64) on every tower, with an owner for each part. Each tower
/// constructs its own object and calls it on its thread. Every call waits for the other towers'
/// same call, and may throw Cancelled. If devices compute in the host's memory or reach each
/// other's, the other towers access the region itself. Otherwise they see a copy in the host's
/// memory.
class SharedRegion {
 public:
  /// One entry per tower, by number; all towers share the same object.
  struct Peers {
    explicit Peers(int towers)
        : memory(static_cast<std::size_t>(towers)), reaches_all(memory.size()) {}
    std::vector<std::byte*> memory;
    /// Nonzero if a tower's device reaches the memory of all towers.
    std::vector<char> reaches_all;
  };

  SharedRegion(Barrier& barrier, Peers& peers, int tower, Tower& owner, TensorView region,
               DType dtype, std::vector<RegionRange> parts);

  /// The part that this tower owns.
  [[nodiscard]] RegionRange own() const { return parts_[index(tower_)]; }
  /// True if the towers' devices read each other's memory.
  [[nodiscard]] bool by_peers() const { return by_peers_; }
  /// Allocates what reduce_to_owners() needs; call it before the first one. Does not wait for other
  /// towers.
  void prepare_to_add();
  /// Each owner's part becomes the sum of all towers' values, added in the order of their numbers.
  /// The other parts keep their values.
  void reduce_to_owners();
  /// Copies every part from its owner to all other towers.
  void spread_from_owners();

 private:
  static std::size_t index(int tower) { return static_cast<std::size_t>(tower); }
  [[nodiscard]] RegionRange all() const;
  /// Publishes the address of the region, or of its copy, to the other towers.
  void publish();
  [[nodiscard]] bool reaches_all_peers() const;
  /// Copy between the region and the copy that the others see, if there is one.
  void show(RegionRange range);
  void take(RegionRange range);
  /// The sum on the device, and on the host.
  void sum_own_part_of_peers();
  template <class T>
  void sum_own_part();

  Barrier& barrier_;
  Peers& peers_;
  const int tower_;
  Tower& owner_;
  std::byte* const region_;
  const DType dtype_;
  const std::vector<RegionRange> parts_;
  /// Null if the others access the region itself.
  std::unique_ptr<DeviceMemory> staging_;
  bool by_peers_ = false;
  /// Made by prepare_to_add().
  std::unique_ptr<PeerSum> sum_;
  /// The address at which the others see the region.
  std::byte* seen_;
  HostThreads threads_;
};

}  // namespace bench
