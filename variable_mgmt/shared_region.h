#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "variable_mgmt/peer_sum.h"
#include "variable_mgmt/tower.h"
#include "variable_mgmt/tower_group.h"

namespace bench {

/// Elements first..last-1 of a flat region.
struct RegionRange {
  std::size_t first = 0;
  std::size_t last = 0;
  [[nodiscard]] std::size_t count() const { return last - first; }
};

/// Where the last segment ends: the elements of a flat region.
std::size_t end_of(std::span<const OptimizerSegment> segments);
/// Who of so many towers looks after which part of a flat region: parts of about the same size, in
/// order, that meet between segments. Some are empty where there are fewer segments than towers.
std::vector<RegionRange> divide_region(std::span<const OptimizerSegment> segments, int towers);
/// The first tower looks after all of it.
std::vector<RegionRange> whole_region(std::span<const OptimizerSegment> segments, int towers);

/// The same flat region (f32 or f64) on every tower of a group, with an owner for each part. A
/// tower makes its own and calls it on its thread; every call meets the others' same call, waits,
/// and may throw GroupCancelled. Where devices compute in the host's memory, or reach each other's,
/// the others read and write nothing but the region itself; else they see a copy in the host's
/// memory.
class SharedRegion {
 public:
  /// `peers` is the same for all towers: places for so many, by their number.
  struct Peers {
    explicit Peers(int towers)
        : memory(static_cast<std::size_t>(towers)), reaches_all(memory.size()) {}
    std::vector<std::byte*> memory;
    /// Whether a tower's device reaches the memory of all.
    std::vector<char> reaches_all;
  };

  SharedRegion(TowerGroup& group, Peers& peers, int tower, Tower& owner, TensorView region,
               DType dtype, std::vector<RegionRange> parts);

  /// What this tower looks after.
  [[nodiscard]] RegionRange own() const { return parts_[index(tower_)]; }
  /// Whether the towers' devices read each other's memory.
  [[nodiscard]] bool by_peers() const { return by_peers_; }
  /// Before the first reduce_to_owners(): makes what that takes. Meets nobody.
  void prepare_to_add();
  /// Each owner's part becomes the sum of all towers' there, added in the order of their numbers;
  /// the other parts hold what they held.
  void reduce_to_owners();
  /// Every part becomes what its owner has there.
  void spread_from_owners();

 private:
  static std::size_t index(int tower) { return static_cast<std::size_t>(tower); }
  [[nodiscard]] RegionRange all() const;
  /// Lets the others see the region, or a copy of it.
  void meet();
  [[nodiscard]] bool reaches_all_peers() const;
  /// Copies between the device and what the others see, where these are two.
  void show(RegionRange range);
  void take(RegionRange range);
  /// On the device, and on the host.
  void sum_own_part_of_peers();
  template <class T>
  void sum_own_part();

  TowerGroup& group_;
  Peers& peers_;
  const int tower_;
  Tower& owner_;
  std::byte* const region_;
  const DType dtype_;
  const std::vector<RegionRange> parts_;
  /// Null where the others see the region itself.
  std::unique_ptr<DeviceMemory> staging_;
  bool by_peers_ = false;
  /// Of prepare_to_add().
  std::unique_ptr<PeerSum> sum_;
  /// Where the others see it.
  std::byte* seen_;
  HostThreads threads_;
};

}  // namespace bench
