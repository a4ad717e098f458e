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

/// A plan's graph inputs, in the graph's order: what is given for them becomes the arguments of the
/// kernels that read them. Executor says what each call does.
class BoundInputs {
 public:
  /// All outlive this; `kernels` is the stream that the plan's steps run on.
  BoundInputs(const Plan& plan, BoundPlan& bound, Backend& backend, Stream& kernels);

  /// Throws InternalError where no input has that name.
  [[nodiscard]] std::size_t find(const std::string& name) const;
  [[nodiscard]] const Buffer& buffer(std::size_t input) const;
  void feed(std::size_t input, std::span<const std::byte> host, const ContentId& content);
  void feed_pixels(std::size_t input, std::span<const std::uint8_t> host, const ContentId& content);
  void begin_ahead();
  void take_ahead();
  void place(std::size_t input, void* device) { bind(places_[input], device); }
  /// The memory that the plan or else this has for an input, bound, for who may write it: what was
  /// fed is taken to be there no longer.
  TensorView own_memory(std::size_t input);
  /// Throws InternalError unless every input was given; looks once only.
  void check_given();

 private:
  /// Memory of the host, and what it holds.
  struct Fed {
    std::span<const std::byte> host;
    ContentId content;
    [[nodiscard]] bool same_as(const Fed& other) const {
      return content.same_as(other.content) && host.data() == other.host.data() &&
             host.size() == other.host.size();
    }
  };
  /// A graph input, the kernels' arguments that are it, and memory of our own where the plan has
  /// none for it.
  struct Place {
    std::size_t buffer = 0;
    std::vector<TensorView*> uses;
    std::unique_ptr<DeviceMemory> own;
    /// What pixels become the input through; null before there were any.
    std::unique_ptr<Kernel> normalization;
    /// What the plan's memory, or ours, was filled with: nothing else writes there.
    Fed fed = {};
    bool given = false;
  };

  static void bind(Place& place, void* data);
  TensorView bind_own_memory(Place& place);
  /// Brings what is fed into the input's own memory, through a kernel if there is one, unless it
  /// lies there already.
  void fill(Place& place, const Fed& fed, Kernel* through);

  const Plan& plan_;
  const BoundPlan& bound_;
  Backend& backend_;
  Stream& kernels_;
  std::vector<Place> places_;
  bool checked_ = false;
  /// Null where the device shares the host's memory.
  std::unique_ptr<InputLanding> landing_;
};

}  // namespace bench
