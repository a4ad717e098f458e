#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/backend.h"
#include "variable_mgmt/collectives/packing.h"
#include "variable_mgmt/towers/tower.h"

namespace bench {

/// A copy of a tower's gradients in 16 bits, piece by piece (--compact_gradient_transfer). The
/// copies are added and then widened into the gradients.
class NarrowGradients {
 public:
  /// `pieces` of the gradients' f32 region; they must not overlap.
  NarrowGradients(Tower& tower, DType narrow, std::vector<FlatPiece> pieces);
  ~NarrowGradients() { finish(tower_.stream()); }
  NarrowGradients(const NarrowGradients&) = delete;
  NarrowGradients& operator=(const NarrowGradients&) = delete;

  /// Enqueues narrowing a piece into its copy; returns the copy's address on the device.
  [[nodiscard]] void* narrow(std::size_t piece);
  /// Enqueues widening all copies into the gradients.
  void widen();

  /// The size of a piece's copy.
  static std::size_t bytes(const FlatPiece& piece);

 private:
  /// Kernels need aligned memory, but a piece may begin anywhere. A copy therefore begins at the
  /// last aligned place before the piece. It begins with `lead` elements of the preceding piece,
  /// which are not used.
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
  /// The copies in the order of their pieces' offsets.
  std::vector<std::size_t> order_;
};

}  // namespace bench
