#include "kernels/runtime/memory_plan.h"

#include <algorithm>
#include <numeric>

#include "models/base/errors.h"

namespace bench {
namespace {

/// Tensors that share one piece of memory, and the life of the piece.
struct Piece {
  std::size_t bytes = 0;
  std::int32_t first_step = 0;
  std::int32_t last_step = 0;
  std::size_t offset = 0;
};

bool live_together(const Piece& a, const Piece& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

/// The lowest offset at which `bytes` are free between `placed` pieces, sorted by offset.
std::size_t lowest_gap(const std::vector<const Piece*>& placed, std::size_t bytes) {
  std::size_t offset = 0;
  for (const Piece* piece : placed) {
    if (offset + bytes <= piece->offset) {
      return offset;
    }
    offset = std::max(offset, piece->offset + piece->bytes);
  }
  return offset;
}

}  // namespace

MemoryPlan plan_memory(std::span<const PlannedTensor> tensors, const Spacing& spacing) {
  std::vector<Piece> pieces;
  std::vector<std::size_t> piece_of(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const PlannedTensor& tensor = tensors[i];
    const std::size_t bytes = align_up(tensor.bytes + spacing.guard_bytes, spacing.alignment);
    if (tensor.shares) {
      check(*tensor.shares < i,
            "memory plan: a tensor can share only the memory of an earlier one");
      piece_of[i] = piece_of[*tensor.shares];
      Piece& piece = pieces[piece_of[i]];
      piece.bytes = std::max(piece.bytes, bytes);
      piece.first_step = std::min(piece.first_step, tensor.first_step);
      piece.last_step = std::max(piece.last_step, tensor.last_step);
    } else {
      piece_of[i] = pieces.size();
      pieces.push_back(
          {.bytes = bytes, .first_step = tensor.first_step, .last_step = tensor.last_step});
    }
  }

  std::vector<std::size_t> by_size(pieces.size());
  std::iota(by_size.begin(), by_size.end(), 0);
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](auto a, auto b) { return pieces[a].bytes > pieces[b].bytes; });
  std::vector<const Piece*> placed;  // sorted by offset
  MemoryPlan plan;
  for (const std::size_t index : by_size) {
    Piece& piece = pieces[index];
    std::vector<const Piece*> neighbours;
    std::copy_if(placed.begin(), placed.end(), std::back_inserter(neighbours),
                 [&](const Piece* other) { return live_together(piece, *other); });
    piece.offset = lowest_gap(neighbours, piece.bytes);
    const auto position =
        std::upper_bound(placed.begin(), placed.end(), piece.offset,
                         [](std::size_t offset, const Piece* p) { return offset < p->offset; });
    placed.insert(position, &piece);
    plan.total_bytes = std::max(plan.total_bytes, piece.offset + piece.bytes);
  }
  for (const std::size_t piece : piece_of) {
    plan.offsets.push_back(pieces[piece].offset);
  }
  return plan;
}

}  // namespace bench
