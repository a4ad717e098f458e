#include "kernels/runtime/staging.h"

namespace bench {

TensorView Staging::staged(std::size_t bytes) {
  if (capacity_ < bytes) {
    stream_.synchronize();  // Work on the old memory must end before it is freed.
    memory_.reset();
    memory_ = backend_.allocate(bytes);
    capacity_ = bytes;
  }
  return {.data = memory_->data(), .bytes = bytes};
}

TensorView Staging::input(std::span<const std::byte> host) {
  if (backend_.shares_host_memory()) {
    // Kernels only read their inputs.
    void* data = const_cast<std::byte*>(host.data());  // NOLINT(*-const-cast)
    return {.data = data, .bytes = host.size()};
  }
  const TensorView view = staged(host.size());
  stream_.upload(host, view.data);
  return view;
}

TensorView Staging::output(std::span<std::byte> host) {
  if (backend_.shares_host_memory()) {
    return {.data = host.data(), .bytes = host.size()};
  }
  output_ = host;
  return staged(host.size());
}

void Staging::finish_output() {
  if (!backend_.shares_host_memory()) {
    stream_.download(memory_->data(), output_);
  }
  stream_.synchronize();
}

}  // namespace bench
