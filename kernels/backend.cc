#include "kernels/backend.h"

#include <cstring>
#include <new>
#include <ostream>

#include "models/base/errors.h"
#include "models/ops/conv2d.h"

namespace bench {

void finish(Stream& stream) noexcept {
  try {
    stream.synchronize();
  } catch (...) {  // NOLINT(bugprone-empty-catch)
  }
}

std::span<const std::int32_t> Kernel::written_rows() const {
  throw InternalError("kernel: it writes no sparse gradient");
}

std::ostream& operator<<(std::ostream& out, const Layout& layout) { return out << layout.token(); }

std::string_view name_of(DataFormat format) {
  switch (format) {
    case DataFormat::nchw:
      return "NCHW";
    case DataFormat::nhwc:
      return "NHWC";
    case DataFormat::automatic:
      return "auto";
  }
  return "?";
}

Support computes_in(const Backend& backend, DType dtype) {
  Graph graph;
  const ValueId x = graph.add_input("x", {.dtype = dtype, .shape = {1, 16, 1, 1}});
  const ValueId w = graph.add_input("w", {.dtype = dtype, .shape = {16, 16, 1, 1}});
  graph.add_node(kConv2d, "conv", Conv2dAttributes{}, {x, w});
  return backend.supports(graph, graph.nodes()[0]);
}

namespace {

class HeapMemory final : public DeviceMemory {
 public:
  explicit HeapMemory(std::size_t bytes)
      : data_(static_cast<std::byte*>(::operator new(bytes, kAlignment))) {
    std::memset(data_, 0, bytes);
  }
  ~HeapMemory() override { ::operator delete(data_, kAlignment); }
  HeapMemory(const HeapMemory&) = delete;
  HeapMemory& operator=(const HeapMemory&) = delete;
  [[nodiscard]] std::byte* data() const override { return data_; }

 private:
  static constexpr std::align_val_t kAlignment{4096};
  std::byte* data_;
};

}  // namespace

std::unique_ptr<DeviceMemory> Backend::allocate_staging(std::size_t bytes) {
  return std::make_unique<HeapMemory>(bytes);
}

}  // namespace bench
