#include "kernels/onednn/primitive_kernel.h"

#include "models/base/errors.h"

namespace bench::onednn {

PrimitiveKernel::PrimitiveKernel(const dnnl::engine& engine, dnnl::primitive primitive,
                                 const std::vector<Argument>& arguments,
                                 const dnnl::memory::desc& scratchpad)
    : primitive_(std::move(primitive)), scratchpad_(scratchpad, engine, DNNL_MEMORY_NONE) {
  for (const Argument& argument : arguments) {
    if (argument.from == Argument::From::constant) {
      const dnnl::memory& memory = constants_.emplace_back(argument.desc, engine);
      *static_cast<float*>(memory.get_data_handle()) = argument.value;
      arguments_.push_back({argument.id, memory.get()});
      continue;
    }
    dnnl::memory memory(argument.desc, engine, DNNL_MEMORY_NONE);
    bound_.push_back({.memory = memory, .from = argument.from, .position = argument.position});
    arguments_.push_back({argument.id, memory.get()});
  }
  arguments_.push_back({DNNL_ARG_SCRATCHPAD, scratchpad_.get()});
}

void PrimitiveKernel::launch(Stream& stream, std::span<const TensorView> inputs,
                             std::span<const TensorView> outputs, void* workspace) {
  for (Bound& bound : bound_) {
    const auto& views = bound.from == Argument::From::input ? inputs : outputs;
    bound.memory.set_data_handle(views[bound.position].data);
  }
  scratchpad_.set_data_handle(workspace);
  const auto status =
      dnnl_primitive_execute(primitive_.get(), static_cast<OnednnStream&>(stream).get().get(),
                             static_cast<int>(arguments_.size()), arguments_.data());
  if (status != dnnl_success) {
    throw DeviceError(fmt::format("oneDNN: dnnl_primitive_execute failed with status {}",
                                  static_cast<int>(status)));
  }
}

Argument constant_scale(int id, double scale) {
  return {.id = DNNL_ARG_ATTR_SCALES | id,
          .desc = {{1}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a},
          .from = Argument::From::constant,
          .value = static_cast<float>(scale)};
}

dnnl::primitive_attr base_attributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

}  // namespace bench::onednn
