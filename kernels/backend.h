#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/optimizer.h"
#include "kernels/stream.h"
#include "models/base/normalization.h"
#include "models/ir/graph.h"
#include "models/passes/rewrite.h"

namespace bench {

/// How a tensor lies in memory, known in full to its backend only: everyone else compares tokens.
/// The token is readable ("nchw", "nhwc", "nChw16c").
class Layout {
 public:
  Layout() = default;
  explicit Layout(std::string token) : token_(std::move(token)) {}
  /// As a candidate's input: the kernel reads the value however it lies.
  static Layout any() { return Layout("any"); }
  [[nodiscard]] const std::string& token() const { return token_; }
  auto operator<=>(const Layout&) const = default;

 private:
  std::string token_;
};
std::ostream& operator<<(std::ostream& out, const Layout& layout);

/// Which layouts of activations a run may use. `automatic` lets the whole graph be cheapest.
enum class DataFormat : std::uint8_t { nchw, nhwc, automatic };
std::string_view name_of(DataFormat format);

/// What a tensor is and how it lies.
struct Placed {
  TensorType type;
  Layout layout;
  bool operator==(const Placed&) const = default;
};

/// Memory of one tensor; its type and layout were fixed when the kernel was made.
struct TensorView {
  void* data = nullptr;
  std::size_t bytes = 0;

  template <class T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(data);
  }
};

/// One compiled operation for fixed types, shapes and layouts.
class Kernel {
 public:
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  virtual ~Kernel() = default;
  /// Enqueues the work; may return before it is done. Outputs overlap no input but where the
  /// candidate allowed it. `workspace` has the candidate's workspace_bytes, 64-byte aligned.
  virtual void launch(Stream& stream, std::span<const TensorView> inputs,
                      std::span<const TensorView> outputs, void* workspace) = 0;
};

/// One way to run a node: the layouts it reads and writes, and what it is expected to cost.
struct Candidate {
  /// The name under which a record shows it, e.g. "brgconv:avx512_core".
  std::string implementation;
  /// What it has in common with candidates that divide the node's work among kernels in the same
  /// way, whichever of a library's kernels they use: e.g. "+cuda" where kernels of ours compute the
  /// epilogue, empty where the library does. Tuning tries each way that a node has.
  std::string way = {};
  std::vector<Layout> inputs;
  std::vector<Layout> outputs;
  /// Bytes of each opaque output, by output position; 0 for tensors.
  std::vector<std::size_t> opaque_bytes;
  /// Scratch memory `launch` needs; its contents need not survive the call.
  std::size_t workspace_bytes = 0;
  /// What it writes and reads again between kernels of its own, beside the node's inputs and
  /// outputs.
  std::int64_t intermediate_bytes = 0;
  /// Kernels, copies and fills that one launch enqueues; what a library does is one of them.
  int launches = 1;
  /// Whether they are none where the first output lies on the first input.
  bool idle_in_place = false;
  /// Estimated time, comparable among one backend's candidates and reorders only.
  double seconds = 0;
  /// Whether each launch on the same inputs gives the same bits.
  bool deterministic = true;
  /// The output may lie on the input's memory if nobody reads the input later.
  struct Overwrite {
    std::size_t output = 0;
    std::size_t input = 0;
  };
  std::vector<Overwrite> may_overwrite;
  std::function<std::unique_ptr<Kernel>()> make;
};

/// Memory of a device or for it, freed with the object; 4096-byte aligned. The host may touch it
/// only where the backend shares_host_memory(); there pages are backed when the device's threads
/// first touch them.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  virtual ~DeviceMemory() = default;
  [[nodiscard]] virtual std::byte* data() const = 0;
};

/// What holds for a device's memory.
struct MemoryTraits {
  /// Tensors begin at multiples of it, in bytes; a power of two, at least 64.
  std::size_t alignment = 64;
  /// What may still be allocated, in bytes; none where it is the host's memory, which has limits of
  /// its own.
  std::optional<std::size_t> free_bytes = {};
  /// Of the last cache before it; 0 where that is not known.
  std::size_t cache_bytes = 0;
};

/// What a device can do at most, measured by running it.
struct Ceiling {
  double flops_per_second = 0;
  /// To and from memory, reads and writes together.
  double bytes_per_second = 0;
};

/// Threads of the host that work at once; the caller is the first.
struct HostThreads {
  int count = 1;
  /// Calls part(thread) for every thread 0..count-1, all at once, and waits. `part` must not throw.
  std::function<void(const std::function<void(int thread)>& part)> run =
      [](const std::function<void(int thread)>& part) { part(0); };
};

/// Everything a device offers: candidates per node, reorders, the optimizer, memory.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual Support supports(const Graph& graph, const Node& node) const = 0;
  /// At least one candidate for every supported node; throws UsageError with the reason otherwise.
  virtual std::vector<Candidate> candidates(const Graph& graph, const Node& node,
                                            DataFormat format) = 0;
  /// Row-major in the order of the logical axes (NCHW, OIHW): how the outside sees tensors.
  [[nodiscard]] virtual Layout canonical_layout(const TensorType& type) const = 0;
  /// Layouts in which a graph input may be handed over, best first; the plan chooses.
  [[nodiscard]] virtual std::vector<Layout> input_layouts(const TensorType& type,
                                                          DataFormat format) const = 0;
  [[nodiscard]] virtual std::size_t bytes(const TensorType& type, const Layout& layout) = 0;
  /// A kernel that brings a tensor into another layout, another floating type (to nearest), or
  /// both; a copy when neither differs. The shapes are one.
  virtual std::unique_ptr<Kernel> make_reorder(const Placed& from, const Placed& to) = 0;
  /// A kernel that reads pixels of images, u8 in NHWC, and writes them as networks read them: the
  /// difference, then the quotient in f32 (f64 where that is asked), to nearest in `images`' type.
  /// The default works in the host's memory, on host_threads(), and writes "nchw" and "nhwc".
  virtual std::unique_ptr<Kernel> make_normalization(const Normalization& range,
                                                     const Placed& images);
  [[nodiscard]] virtual double reorder_seconds(const TensorType& type, const Layout& from,
                                               const Layout& to) = 0;
  /// How the elements of a variable lie in a copy of it in 16 bits; none where no tiles of
  /// TileOrder tell.
  [[nodiscard]] virtual std::optional<TileOrder> order_of_copy(const Placed& variable,
                                                               const Placed& copy) {
    return variable.layout == copy.layout ? std::optional(TileOrder{}) : std::nullopt;
  }
  /// Throws InternalError for an element type that the backend does not update.
  virtual std::unique_ptr<Optimizer> make_optimizer(const OptimizerSettings& settings,
                                                    std::vector<OptimizerSegment> segments) = 0;
  virtual std::unique_ptr<Stream> make_stream() = 0;
  /// One whose work goes before that of make_stream()'s, where the device ranks streams.
  virtual std::unique_ptr<Stream> make_urgent_stream() { return make_stream(); }
  virtual std::unique_ptr<Event> make_event() = 0;
  /// The speed of a large matrix product of that type and of a large addition, measured now; takes
  /// at most three seconds. None where the device is not made to be fast.
  virtual std::optional<Ceiling> measure_ceiling(DType dtype) = 0;
  /// The clock of a busy device's processors in Hz, from cycles that it counts itself while time
  /// passes; takes milliseconds. None where the device has no such counter.
  virtual std::optional<double> measure_clock() { return std::nullopt; }
  /// Zeroed memory; throws DeviceError when there is none.
  virtual std::unique_ptr<DeviceMemory> allocate(std::size_t bytes) = 0;
  /// Zeroed memory of the host: copies from and to the device are quickest there, and a recording
  /// may name no other. Throws DeviceError when there is none.
  virtual std::unique_ptr<DeviceMemory> allocate_staging(std::size_t bytes);
  /// Whether the device computes in the host's memory: the host may read and write allocate()'s
  /// while no work is under way, and kernels take any memory of the host's.
  [[nodiscard]] virtual bool shares_host_memory() const = 0;
  /// Whether copy() of its streams reads that memory, which a device of the same backend
  /// allocated, without a way through the host; what that takes is made ready. False for memory of
  /// the host.
  [[nodiscard]] virtual bool reaches(const void* /*memory*/) { return false; }
  [[nodiscard]] virtual MemoryTraits memory_traits() const { return {}; }
  /// Those that the device computes with, if any, for what the host has to work out meanwhile. The
  /// backend has to outlive them; the host thread that uses it uses them.
  [[nodiscard]] virtual HostThreads host_threads() { return {}; }
};

/// Whether a backend computes in a floating type at all: a plain convolution, or why not.
Support computes_in(const Backend& backend, DType dtype);

}  // namespace bench
