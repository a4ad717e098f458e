#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "kernels/backend.h"
#include "kernels/runtime/host_stream.h"
#include "models/base/errors.h"

namespace bench::onednn {

/// oneDNN on the CPU is done when a call returns, as our own kernels are.
class OnednnStream final : public HostStream {
 public:
  explicit OnednnStream(const dnnl::engine& engine) : stream_(engine) {}
  void synchronize() override { stream_.wait(); }
  dnnl::stream& get() { return stream_; }

 private:
  dnnl::stream stream_;
};

/// One argument of a primitive: which of the kernel's inputs or outputs it is, or a number that
/// never changes.
struct Argument {
  int id = 0;
  dnnl::memory::desc desc;
  enum class From : std::uint8_t { input, output, constant } from = From::input;
  std::size_t position = 0;
  float value = 0;
};

/// The scale of all elements of a primitive's argument `id`.
Argument constant_scale(int id, double scale);

/// A oneDNN primitive as a kernel. Launching sets pointers and executes; nothing is created.
class PrimitiveKernel final : public Kernel {
 public:
  PrimitiveKernel(const dnnl::engine& engine, dnnl::primitive primitive,
                  const std::vector<Argument>& arguments, const dnnl::memory::desc& scratchpad);
  void launch(Stream& stream, std::span<const TensorView> inputs,
              std::span<const TensorView> outputs, void* workspace) override;

 private:
  struct Bound {
    dnnl::memory memory;
    Argument::From from;
    std::size_t position;
  };
  dnnl::primitive primitive_;
  std::vector<Bound> bound_;
  std::vector<dnnl::memory> constants_;
  dnnl::memory scratchpad_;
  std::vector<dnnl_exec_arg_t> arguments_;
};

/// True for the name of oneDNN's reference code, which is many times slower than its kernels.
inline bool is_reference(std::string_view implementation) {
  return implementation.starts_with("ref");
}

/// Returns what `work` returns. Throws DeviceError if oneDNN refuses.
template <class Work>
auto or_device_error(const Work& work) {
  try {
    return work();
  } catch (const dnnl::error& error) {
    throw DeviceError(
        fmt::format("oneDNN: {} (status {})", error.what(), static_cast<int>(error.status)));
  }
}

/// What a candidate's `make` does for a primitive descriptor. Throws DeviceError if oneDNN refuses.
template <class PrimitiveDesc>
std::function<std::unique_ptr<Kernel>()> make_primitive(const dnnl::engine& engine,
                                                        const PrimitiveDesc& desc,
                                                        std::vector<Argument> arguments) {
  return [engine, desc, arguments = std::move(arguments)] {
    return or_device_error([&] {
      return std::make_unique<PrimitiveKernel>(engine, dnnl::primitive(desc.get()), arguments,
                                               desc.scratchpad_desc());
    });
  };
}

/// The attributes that all our primitives share: scratch memory comes from the executor.
dnnl::primitive_attr base_attributes();

}  // namespace bench::onednn
