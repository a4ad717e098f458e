// Algorithms in which members add to the sums of other members.
#include <algorithm>
#include <bit>

#include "models/base/errors.h"
#include "variable_mgmt/collectives/schedules.h"

namespace bench {
namespace {

/// The ring's order, after checking that it contains each rank once.
std::vector<int> ring_order_of(const ScheduleRequest& request) {
  const std::vector<int> ranks = all_ranks(request.members);
  std::vector<int> order(request.ring_order.begin(), request.ring_order.end());
  if (order.empty()) {
    order = ranks;
  }
  if (!std::is_permutation(order.begin(), order.end(), ranks.begin(), ranks.end())) {
    throw UsageError(
        fmt::format("all-reduce {}: the ring order must list each of the {} devices once",
                    name_of(request.range), request.members));
  }
  return order;
}

}  // namespace

Schedule plan_xring(const ScheduleRequest& request) {
  const auto size = static_cast<std::size_t>(request.members);
  const auto shards = static_cast<std::size_t>(request.range.shards);
  if (shards > size) {
    throw UsageError(fmt::format("all-reduce {}: accepted: 1 to {} shards, at most one per device",
                                 name_of(request.range), request.members));
  }
  const std::vector<int> order = ring_order_of(request);
  const std::size_t turn = std::max<std::size_t>(1, size / shards);
  Schedule schedule(size);
  for (std::size_t place = 0; place < size; ++place) {
    const int self = order[place];
    const int before = order[(place + size - 1) % size];
    auto& steps = schedule[static_cast<std::size_t>(self)];
    // In the second phase, the segment of a tick is one further than in the first.
    for (std::size_t phase = 0; phase < 2; ++phase) {
      for (std::size_t tick = 0; tick + 1 < size; ++tick) {
        for (std::size_t shard = 0; shard < shards; ++shard) {
          // The member's place in the shard's ring, which begins `shard * turn` places further.
          const std::size_t own = (place + 2 * size - (shard * turn) % size) % size;
          const std::size_t segment = (own + 2 * size - 2 + phase - tick) % size;
          const ElementRange range =
              part_of(request.elements, size * shards, segment * shards + shard);
          ReduceStep step{.begin = range.begin,
                          .count = range.count,
                          .sources = phase == 0 ? std::vector{before, self} : std::vector{before},
                          .targets = {self}};
          const std::size_t ticks = phase * (size - 1) + tick;
          if (ticks > 0) {
            step.after = {{.rank = before, .steps = (ticks - 1) * shards + shard + 1}};
          }
          steps.push_back(std::move(step));
        }
      }
    }
  }
  return schedule;
}

Schedule plan_rechd(const ScheduleRequest& request) {
  const auto power = static_cast<int>(std::bit_floor(static_cast<unsigned>(request.members)));
  const int extra = request.members - power;
  Schedule schedule(static_cast<std::size_t>(request.members));
  const auto steps = [&](int rank) -> auto& { return schedule[static_cast<std::size_t>(rank)]; };
  for (int rank = 0; rank < extra; ++rank) {
    steps(rank).push_back({.begin = 0,
                           .count = request.elements,
                           .sources = {rank, rank + power},
                           .targets = {rank}});
  }
  // Which of 2^level parts a member has after `level` halvings; the highest bit of its rank decides
  // first.
  const int levels = std::countr_zero(static_cast<unsigned>(power));
  const auto part = [&](int rank, int level) {
    return part_of(request.elements, std::size_t{1} << level,
                   static_cast<std::size_t>(rank >> (levels - level)));
  };
  const auto done_before = [&](int rank, int count) {
    return static_cast<std::size_t>(count) + (rank < extra ? 1 : 0);
  };
  for (int level = 1; level <= levels; ++level) {
    for (int rank = 0; rank < power; ++rank) {
      const int partner = rank ^ (1 << (levels - level));
      const ElementRange kept = part(rank, level);
      steps(rank).push_back(
          {.begin = kept.begin,
           .count = kept.count,
           // In rank order, so that both partners would get the same bits.
           .sources = {std::min(rank, partner), std::max(rank, partner)},
           .targets = {rank},
           .after = {{.rank = partner, .steps = done_before(partner, level - 1)}}});
    }
  }
  for (int level = levels; level >= 1; --level) {
    for (int rank = 0; rank < power; ++rank) {
      const int partner = rank ^ (1 << (levels - level));
      const ElementRange theirs = part(partner, level);
      const int done = levels + (levels - level);
      steps(rank).push_back({.begin = theirs.begin,
                             .count = theirs.count,
                             .sources = {partner},
                             .targets = {rank},
                             .after = {{.rank = partner, .steps = done_before(partner, done)}}});
    }
  }
  for (int rank = 0; rank < extra; ++rank) {
    steps(rank + power)
        .push_back({.begin = 0,
                    .count = request.elements,
                    .sources = {rank},
                    .targets = {rank + power},
                    .after = {{.rank = rank, .steps = done_before(rank, 2 * levels)}}});
  }
  return schedule;
}

Schedule plan_tree(const ScheduleRequest& request) {
  // Pieces of at least half a mebibyte of f32, so that adding hides the synchronization.
  constexpr std::size_t kPiece = std::size_t{1} << 17;
  constexpr std::size_t kMostPieces = 8;
  const std::size_t pieces = std::clamp<std::size_t>(request.elements / kPiece, 1, kMostPieces);
  Schedule schedule(static_cast<std::size_t>(request.members));
  // The children of a rank, one per bit below its lowest set bit. Their sum goes into the rank's
  // memory.
  const auto children = [&](int rank) {
    std::vector<int> ranks;
    for (int bit = 1; rank + bit < request.members && (rank & bit) == 0; bit *= 2) {
      ranks.push_back(rank + bit);
    }
    return ranks;
  };
  for (int rank = 0; rank < request.members; ++rank) {
    auto& steps = schedule[static_cast<std::size_t>(rank)];
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      const ElementRange range = part_of(request.elements, pieces, piece);
      for (const int child : children(rank)) {
        const std::size_t theirs = children(child).size() * (piece + 1);
        steps.push_back({.begin = range.begin,
                         .count = range.count,
                         .sources = {rank, child},
                         .targets = {rank},
                         .after = {{.rank = child, .steps = theirs}}});
      }
    }
    const int parent = rank & (rank - 1);
    for (std::size_t piece = 0; rank > 0 && piece < pieces; ++piece) {
      const ElementRange range = part_of(request.elements, pieces, piece);
      const std::size_t added = children(parent).size();
      const std::size_t theirs = parent == 0 ? added * (piece + 1) : added * pieces + piece + 1;
      steps.push_back({.begin = range.begin,
                       .count = range.count,
                       .sources = {parent},
                       .targets = {rank},
                       .after = {{.rank = parent, .steps = theirs}}});
    }
  }
  return schedule;
}

}  // namespace bench
