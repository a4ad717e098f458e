#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/backend.h"
#include "variable_mgmt/collectives/packing.h"
#include "variable_mgmt/tower.h"

namespace bench {

/// A copy of a tower's gradients in 16 bits, piece by piece, to be added there and brought back:
/// --compact_gradient_transfer.
class NarrowGradients {
 public:
  /// `pieces` of the region of gradients, in f32, which do not overlap.
  NarrowGradients(Tower& tower, DType narrow, std::vector<FlatPiece> pieces);
  ~NarrowGradients() { finish(tower_.stream()); }
  NarrowGradients(const NarrowGradients&) = delete;
  NarrowGradients& operator=(const NarrowGradients&) = delete;

  /// Enqueues that the copy of a piece is made, and tells where it lies on the device.
  [[nodiscard]] void* narrow(std::size_t piece);
  /// Enqueues that all gradients become what their copies are.
  void widen();

  /// What the copy of a piece takes.
  static std::size_t bytes(const FlatPiece& piece);

 private:
  /// Kernels ask for aligned memory, but a piece may begin anywhere: a copy is aligned and begins
  /// with the last aligned place before, with elements of the piece before that nobody reads.
  struct Copy {
    TensorView wide;
    TensorView narrow;
    std::size_t lead = 0;
    Kernel* narrowing = nullptr;
    Kernel* widening = nullptr;
  };

  Tower& tower_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::unique_ptr<DeviceMemory> memory_;
  std::vector<Copy> copies_;
  /// Rising by where the pieces lie.
  std::vector<std::size_t> order_;
};

}  // namespace bench
