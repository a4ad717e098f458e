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

/// The memory layout of a tensor. Only its backend knows it in full; all other code compares
/// tokens. The token is readable ("nchw", "nhwc", "nChw16c").
class Layout {
 public:
  Layout() = default;
  explicit Layout(std::string token) : token_(std::move(token)) {}
  /// For a candidate's input: the kernel reads the value in any layout.
  static Layout any() { return Layout("any"); }
  [[nodiscard]] const std::string& token() const { return token_; }
  auto operator<=>(const Layout&) const = default;

 private:
  std::string token_;
};
std::ostream& operator<<(std::ostream& out, const Layout& layout);

/// The layouts of activations that a run may use. `automatic` minimises the cost of the whole
/// graph.
enum class DataFormat : std::uint8_t { nchw, nhwc, automatic };
std::string_view name_of(DataFormat format);

/// A tensor's type and layout.
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
  /// Enqueues the work; may return before it is done. Outputs overlap an input only if the
  /// candidate allows it. `workspace` has the candidate's workspace_bytes and is 64-byte aligned.
  virtual void launch(Stream& stream, std::span<const TensorView> inputs,
                      std::span<const TensorView> outputs, void* workspace) = 0;
  /// The rows that the last launch wrote to a sparse gradient: distinct, in ascending order. Throws
  /// InternalError if the kernel writes none.
  [[nodiscard]] virtual std::span<const std::int32_t> written_rows() const;
};

/// One way to run a node: the layouts that it reads and writes, and its estimated cost.
struct Candidate {
  /// The name in a record, e.g. "brgconv:avx512_core".
  std::string implementation;
  /// Identifies how the node's work is divided among kernels, whichever of a library's kernels are
  /// used. E.g. "+cuda" if our kernels compute the epilogue, empty if the library does. Tuning
  /// tries each way of a node.
  std::string way = {};
  std::vector<Layout> inputs;
  std::vector<Layout> outputs;
  /// Bytes of each opaque output, by output position; 0 for tensors.
  std::vector<std::size_t> opaque_bytes;
  /// Scratch memory that `launch` needs; its contents need not survive the call.
  std::size_t workspace_bytes = 0;
  /// The multiply-adds of its algorithm, if they are fewer than the node's.
  std::optional<std::int64_t> multiply_adds = {};
  /// Bytes written and read again between the candidate's kernels, in addition to the node's inputs
  /// and outputs.
  std::int64_t intermediate_bytes = 0;
  /// Kernels, copies and fills per launch; a library call counts as one.
  int launches = 1;
  /// True if nothing is launched when the first output shares memory with the first input.
  bool idle_in_place = false;
  /// Estimated time, comparable among one backend's candidates and reorders only.
  double seconds = 0;
  /// True if each launch on the same inputs gives the same bits.
  bool deterministic = true;
  /// The output may share the input's memory if nothing reads the input later.
  struct Overwrite {
    std::size_t output = 0;
    std::size_t input = 0;
  };
  std::vector<Overwrite> may_overwrite;
  std::function<std::unique_ptr<Kernel>()> make;
};

/// Memory of a device or for it, 4096-byte aligned, freed with the object. The host may access it
/// only if the backend shares_host_memory(). The device's threads then touch its pages first.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  virtual ~DeviceMemory() = default;
  [[nodiscard]] virtual std::byte* data() const = 0;
};

/// Properties of a device's memory.
struct MemoryTraits {
  /// Tensors begin at multiples of this, in bytes; a power of two, at least 64.
  std::size_t alignment = 64;
  /// Bytes that may still be allocated. Empty if it is the host's memory, which has separate
  /// limits.
  std::optional<std::size_t> free_bytes = {};
  /// Bytes of the device's caches before the memory, or of its share of them; 0 if unknown. On a
  /// CPU these are all levels after the first.
  std::size_t cache_bytes = 0;
};

/// The measured peak performance of a device.
struct Ceiling {
  /// With operands in registers. If that is not measured: product_flops_per_second.
  double flops_per_second = 0;
  /// In a large matrix product.
  double product_flops_per_second = 0;
  /// To and from memory, reads and writes together.
  double bytes_per_second = 0;
  /// A level of caches: those of all the device's threads together.
  struct Cache {
    int level = 1;
    std::size_t bytes = 0;
    double bytes_per_second = 0;
  };
  /// The nearest first; empty if not measured.
  std::vector<Cache> caches = {};
};

/// Threads of the host that run concurrently; the caller is the first.
struct HostThreads {
  int count = 1;
  /// Calls part(thread) concurrently for every thread 0..count-1 and waits. `part` must not throw.
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
  /// At least one candidate for every supported node; otherwise throws UsageError with the reason.
  virtual std::vector<Candidate> candidates(const Graph& graph, const Node& node,
                                            DataFormat format) = 0;
  /// Row-major in the order of the logical axes (NCHW, OIHW): the layout that callers see.
  [[nodiscard]] virtual Layout canonical_layout(const TensorType& type) const = 0;
  /// Layouts in which a graph input may be passed, best first; the plan chooses.
  [[nodiscard]] virtual std::vector<Layout> input_layouts(const TensorType& type,
                                                          DataFormat format) const = 0;
  [[nodiscard]] virtual std::size_t bytes(const TensorType& type, const Layout& layout) = 0;
  /// A kernel that converts a tensor to another layout, another floating type (to nearest), or
  /// both. It copies if neither differs. Both shapes are equal.
  virtual std::unique_ptr<Kernel> make_reorder(const Placed& from, const Placed& to) = 0;
  /// A kernel that normalises pixels of images, u8 in NHWC, into `images`. It computes the
  /// difference, then the quotient in f32 (f64 if `images` is), and rounds to nearest. The default
  /// uses the host's memory and host_threads(), and writes "nchw" and "nhwc".
  virtual std::unique_ptr<Kernel> make_normalization(const Normalization& range,
                                                     const Placed& images);
  [[nodiscard]] virtual double reorder_seconds(const TensorType& type, const Layout& from,
                                               const Layout& to) = 0;
  /// The order of a variable's elements in its 16-bit copy; empty if a TileOrder cannot describe
  /// it.
  [[nodiscard]] virtual std::optional<TileOrder> order_of_copy(const Placed& variable,
                                                               const Placed& copy) {
    return variable.layout == copy.layout ? std::optional(TileOrder{}) : std::nullopt;
  }
  /// Throws InternalError for an element type that the backend does not update.
  virtual std::unique_ptr<Optimizer> make_optimizer(const OptimizerSettings& settings,
                                                    std::vector<OptimizerSegment> segments) = 0;
  /// Returns true if its optimizers accept OptimizerMemory::sparse. Requires shares_host_memory().
  [[nodiscard]] virtual bool supports_sparse_gradients() const { return false; }
  virtual std::unique_ptr<Stream> make_stream() = 0;
  /// A stream with priority over make_stream()'s, if the device supports priorities.
  virtual std::unique_ptr<Stream> make_urgent_stream() { return make_stream(); }
  virtual std::unique_ptr<Event> make_event() = 0;
  /// Measures how fast the device computes in that type, and reads and writes. Takes at most three
  /// seconds. Empty if the device is not built for speed.
  virtual std::optional<Ceiling> measure_ceiling(DType dtype) = 0;
  /// Only Ceiling::product_flops_per_second.
  virtual std::optional<double> measure_product(DType /*dtype*/) { return std::nullopt; }
  /// Ceiling::flops_per_second as one short run reaches it, where measure_ceiling() takes the best
  /// of many. Takes milliseconds. Empty if the device does not measure it.
  virtual std::optional<double> sample_flops(DType /*dtype*/) { return std::nullopt; }
  /// The clock of a busy device's processors in Hz, from its cycle counter and the elapsed time.
  /// Takes milliseconds. Empty if the device has no such counter.
  virtual std::optional<double> measure_clock() { return std::nullopt; }
  /// Zeroed memory; throws DeviceError if out of memory.
  virtual std::unique_ptr<DeviceMemory> allocate(std::size_t bytes) = 0;
  /// Zeroed memory of the host, which gives the fastest copies to and from the device. A recording
  /// may refer to no other memory of the host. Throws DeviceError if out of memory.
  virtual std::unique_ptr<DeviceMemory> allocate_staging(std::size_t bytes);
  /// Returns true if the device computes in the host's memory. The host may then access
  /// allocate()'s memory while no work is pending, and kernels take any memory of the host.
  [[nodiscard]] virtual bool shares_host_memory() const = 0;
  /// Returns true if copy() of its streams can read `memory` without a detour through the host, and
  /// prepares that. A device of the same backend must have allocated it. False for memory of the
  /// host.
  [[nodiscard]] virtual bool reaches(const void* /*memory*/) { return false; }
  [[nodiscard]] virtual MemoryTraits memory_traits() const { return {}; }
  /// Returns true if gradients of convolutions' filters have the precision of the activations'
  /// type, even if they are stored in f32.
  [[nodiscard]] virtual bool narrow_filter_gradients() const { return false; }
  /// The threads that the device computes with, if any, for host work in between. The backend must
  /// outlive them. Only the host thread that uses the backend may use them.
  [[nodiscard]] virtual HostThreads host_threads() { return {}; }
};

/// Checks if a backend supports a floating type: a plain convolution, or why not.
Support computes_in(const Backend& backend, DType dtype);

}  // namespace bench
