#include "variable_mgmt/gradients/narrow_gradients.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <ranges>

#include "kernels/runtime/memory_plan.h"
#include "models/base/errors.h"

namespace bench {
namespace {

constexpr std::size_t kAligned = 64;
constexpr std::size_t kNarrowBytes = sizeof(std::uint16_t);

/// The number of elements between the last aligned place and the piece.
std::size_t lead_of(const FlatPiece& piece) { return piece.offset % kAligned / sizeof(float); }

/// The number of elements of its copy.
std::size_t count_of(const FlatPiece& piece) {
  return lead_of(piece) + piece.bytes / sizeof(float);
}

}  // namespace

NarrowGradients::NarrowGradients(Tower& tower, DType narrow, std::vector<FlatPiece> pieces)
    : tower_(tower), order_(pieces.size()) {
  check(is_half(narrow), "gradients can be narrowed only to a 16-bit type");
  check(tower.executor().trained_dtype() == DType::f32, "only f32 gradients can be narrowed");
  std::iota(order_.begin(), order_.end(), 0);
  std::sort(order_.begin(), order_.end(),
            [&](std::size_t a, std::size_t b) { return pieces[a].offset < pieces[b].offset; });
  Backend& backend = tower.backend();
  std::size_t total = 0;
  for (const FlatPiece& piece : pieces) {
    total += bytes(piece);
  }
  memory_ = backend.allocate(std::max<std::size_t>(total, 1));
  std::byte* place = memory_->data();
  for (const FlatPiece& piece : pieces) {
    const std::size_t lead = lead_of(piece);
    const std::size_t count = count_of(piece);
    const auto placed = [&](DType dtype) {
      const TensorType type{.dtype = dtype, .shape = {static_cast<std::int64_t>(count)}};
      return Placed{.type = type, .layout = backend.canonical_layout(type)};
    };
    const auto make = [&](DType from, DType to) {
      return kernels_.emplace_back(backend.make_reorder(placed(from), placed(to))).get();
    };
    auto* const wide =
        tower.executor().gradients().as<float>() + (piece.offset / sizeof(float) - lead);
    copies_.push_back({.wide = {.data = wide, .bytes = count * sizeof(float)},
                       .narrow = {.data = place, .bytes = count * kNarrowBytes},
                       .lead = lead,
                       .narrowing = make(DType::f32, narrow),
                       .widening = make(narrow, DType::f32)});
    place += bytes(piece);
  }
}

std::size_t NarrowGradients::bytes(const FlatPiece& piece) {
  return align_up(count_of(piece) * kNarrowBytes, kAligned);
}

void* NarrowGradients::narrow(std::size_t piece) {
  const Copy& copy = copies_[piece];
  copy.narrowing->launch(tower_.stream(), {&copy.wide, 1}, {&copy.narrow, 1}, nullptr);
  return static_cast<std::byte*>(copy.narrow.data) + copy.lead * kNarrowBytes;
}

void NarrowGradients::widen() {
  // Widen from the last to the first: a lead overwrites the end of the preceding piece, which is
  // widened later.
  for (const std::size_t piece : std::ranges::reverse_view(order_)) {
    const Copy& copy = copies_[piece];
    copy.widening->launch(tower_.stream(), {&copy.narrow, 1}, {&copy.wide, 1}, nullptr);
  }
}

}  // namespace bench
