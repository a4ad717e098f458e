#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/runtime/bound_plan.h"
#include "kernels/runtime/input_landing.h"
#include "models/base/content_id.h"

namespace bench {

/// A plan's graph inputs, in the graph's order. The given memory becomes the arguments of the
/// kernels that read them. Executor documents each call.
class BoundInputs {
 public:
  /// All arguments must outlive this object; `kernels` is the stream of the plan's steps.
  BoundInputs(const Plan& plan, BoundPlan& bound, Backend& backend, Stream& kernels);

  /// Throws InternalError if no input has that name.
  [[nodiscard]] std::size_t find(const std::string& name) const;
  [[nodiscard]] const Buffer& buffer(std::size_t input) const;
  void feed(std::size_t input, std::span<const std::byte> host, const ContentId& content);
  void feed_pixels(std::size_t input, std::span<const std::uint8_t> host, const ContentId& content);
  void begin_ahead();
  void take_ahead();
  std::chrono::nanoseconds transfer_time();
  void place(std::size_t input, void* device) { bind(places_[input], device); }
  /// The bound memory of an input, from the plan or from this object, for writing. The last feed's
  /// contents no longer count as present.
  TensorView own_memory(std::size_t input);
  /// Throws InternalError unless every input was given; checks only once.
  void check_given();

 private:
  /// Memory of the host, and the ID of its contents.
  struct Fed {
    std::span<const std::byte> host;
    ContentId content;
    [[nodiscard]] bool same_as(const Fed& other) const {
      return content.same_as(other.content) && host.data() == other.host.data() &&
             host.size() == other.host.size();
    }
  };
  /// A graph input, the kernels' arguments that refer to it, and our memory for it if the plan has
  /// none.
  struct Place {
    std::size_t buffer = 0;
    std::vector<TensorView*> uses;
    std::unique_ptr<DeviceMemory> own;
    /// The kernel that converts pixels to the input; null before the first use.
    std::unique_ptr<Kernel> normalization;
    /// The contents of the plan's or our memory: nothing else writes there.
    Fed fed = {};
    bool given = false;
  };

  static void bind(Place& place, void* data);
  TensorView bind_own_memory(Place& place);
  /// Copies `fed` into the input's memory, through a kernel if given, unless it is already there.
  void fill(Place& place, const Fed& fed, Kernel* through);

  const Plan& plan_;
  const BoundPlan& bound_;
  Backend& backend_;
  Stream& kernels_;
  std::vector<Place> places_;
  bool checked_ = false;
  /// Null if the device shares the host's memory.
  std::unique_ptr<InputLanding> landing_;
};

}  // namespace bench
