#include "variable_mgmt/gradients/shared_region.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "models/base/errors.h"

namespace bench {
namespace {

/// Elements summed at a time: they and the sums stay in the L1 cache.
constexpr std::size_t kBlock = 2048;

/// The part of a range for one thread, in whole blocks.
RegionRange share_of(RegionRange range, int thread, int threads) {
  const std::size_t blocks = (range.count() + kBlock - 1) / kBlock;
  const auto cut = [&](int t) {
    const std::size_t block =
        blocks * static_cast<std::size_t>(t) / static_cast<std::size_t>(threads);
    return std::min(range.first + block * kBlock, range.last);
  };
  return {.first = cut(thread), .last = cut(thread + 1)};
}

}  // namespace

std::size_t end_of(std::span<const OptimizerSegment> segments) {
  return segments.empty() ? 0 : segments.back().offset + segments.back().count;
}

std::vector<RegionRange> divide_region(std::span<const OptimizerSegment> segments, int towers) {
  std::size_t total = 0;
  for (const OptimizerSegment& segment : segments) {
    total += segment.count;
  }
  std::vector<RegionRange> parts;
  std::size_t before = 0;
  std::size_t next = 0;
  for (int tower = 0; tower < towers; ++tower) {
    const std::size_t first = next < segments.size() ? segments[next].offset : 0;
    RegionRange part{.first = first, .last = first};
    const std::size_t goal =
        total * static_cast<std::size_t>(tower + 1) / static_cast<std::size_t>(towers);
    // A segment belongs to the part that contains its middle.
    while (next < segments.size() &&
           (tower + 1 == towers || before + segments[next].count / 2 < goal)) {
      before += segments[next].count;
      part.last = segments[next].offset + segments[next].count;
      ++next;
    }
    parts.push_back(part);
  }
  return parts;
}

std::vector<RegionRange> whole_region(std::span<const OptimizerSegment> segments, int towers) {
  std::vector<RegionRange> parts(static_cast<std::size_t>(towers));
  if (!segments.empty()) {
    parts[0] = {.first = segments.front().offset, .last = end_of(segments)};
  }
  return parts;
}

SharedRegion::SharedRegion(Barrier& barrier, Peers& peers, int tower, Tower& owner,
                           TensorView region, DType dtype, std::vector<RegionRange> parts)
    : barrier_(barrier),
      peers_(peers),
      tower_(tower),
      owner_(owner),
      region_(region.as<std::byte>()),
      dtype_(dtype),
      parts_(std::move(parts)),
      seen_(region_),
      threads_(owner.backend().host_threads()) {
  check(dtype == DType::f32 || dtype == DType::f64, "a shared region must be f32 or f64");
  check(all().last * size_of(dtype) <= region.bytes, "a shared region's parts exceed its size");
  publish();
  if (owner.backend().shares_host_memory()) {
    return;
  }
  peers_.reaches_all[index(tower_)] = reaches_all_peers() ? 1 : 0;
  barrier_.arrive();
  by_peers_ = std::all_of(peers_.reaches_all.begin(), peers_.reaches_all.end(),
                          [](char reaches) { return reaches != 0; });
  if (by_peers_) {
    return;
  }
  staging_ = owner.backend().allocate_staging(std::max<std::size_t>(region.bytes, 1));
  seen_ = staging_->data();
  publish();
}

void SharedRegion::publish() {
  peers_.memory[index(tower_)] = seen_;
  barrier_.arrive();
}

void SharedRegion::prepare_to_add() {
  if (by_peers_) {
    sum_ = std::make_unique<PeerSum>(owner_.backend(), dtype_, own().count());
  }
}

bool SharedRegion::reaches_all_peers() const {
  return std::all_of(peers_.memory.begin(), peers_.memory.end(),
                     [&](const std::byte* memory) { return owner_.backend().reaches(memory); });
}

RegionRange SharedRegion::all() const {
  RegionRange range;
  for (const RegionRange& part : parts_) {
    range.last = std::max(range.last, part.last);
  }
  return range;
}

void SharedRegion::show(RegionRange range) {
  if (staging_ != nullptr && range.count() > 0) {
    const std::size_t size = size_of(dtype_);
    owner_.stream().download(region_ + range.first * size,
                             {seen_ + range.first * size, range.count() * size});
  }
  // Also waits for work enqueued on a device that computes in the host's memory.
  owner_.wait();
}

void SharedRegion::take(RegionRange range) {
  if (staging_ != nullptr && range.count() > 0) {
    const std::size_t size = size_of(dtype_);
    owner_.stream().upload({seen_ + range.first * size, range.count() * size},
                           region_ + range.first * size);
  }
}

void SharedRegion::sum_own_part_of_peers() {
  check(sum_ != nullptr, "a shared region cannot add before prepare_to_add()");
  const std::size_t first = own().first * size_of(dtype_);
  std::vector<const std::byte*> terms;
  for (const std::byte* const memory : peers_.memory) {
    terms.push_back(memory + first);
  }
  sum_->enqueue(owner_.stream(), terms, region_ + first);
  owner_.wait();
}

template <class T>
void SharedRegion::sum_own_part() {
  const auto of = [&](std::size_t tower) { return reinterpret_cast<T*>(peers_.memory[tower]); };
  threads_.run([&](int thread) {
    const RegionRange share = share_of(own(), thread, threads_.count);
    std::array<T, kBlock> sums;
    for (std::size_t begin = share.first; begin < share.last; begin += kBlock) {
      const std::size_t count = std::min(kBlock, share.last - begin);
      std::copy_n(of(0) + begin, count, sums.data());
      for (std::size_t tower = 1; tower < peers_.memory.size(); ++tower) {
        const T* const terms = of(tower) + begin;
        for (std::size_t i = 0; i < count; ++i) {
          sums[i] += terms[i];
        }
      }
      std::copy_n(sums.data(), count, of(index(tower_)) + begin);
    }
  });
}

void SharedRegion::reduce_to_owners() {
  show(all());
  barrier_.arrive();
  if (by_peers()) {
    sum_own_part_of_peers();
  } else {
    dtype_ == DType::f64 ? sum_own_part<double>() : sum_own_part<float>();
    take(own());
  }
  // Wait, or the others' next steps would overwrite what is read here.
  barrier_.arrive();
}

void SharedRegion::spread_from_owners() {
  show(own());
  barrier_.arrive();
  const std::size_t size = size_of(dtype_);
  for (std::size_t tower = 0; tower < parts_.size(); ++tower) {
    if (tower == index(tower_)) {
      continue;
    }
    if (by_peers()) {
      owner_.stream().copy(peers_.memory[tower] + parts_[tower].first * size,
                           region_ + parts_[tower].first * size, parts_[tower].count() * size);
      continue;
    }
    threads_.run([&](int thread) {
      const RegionRange share = share_of(parts_[tower], thread, threads_.count);
      std::memcpy(seen_ + share.first * size, peers_.memory[tower] + share.first * size,
                  share.count() * size);
    });
    take(parts_[tower]);
  }
  if (by_peers()) {
    owner_.wait();
  }
  // Wait until all towers have read what this one shows.
  barrier_.arrive();
}

}  // namespace bench
