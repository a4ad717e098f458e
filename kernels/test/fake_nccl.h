#pragma once

#include <functional>

namespace bench::fake_nccl {

/// Behind what the stream was given before, `ready` is to be asked again and again until it returns
/// true, and then `work` to be done. Each kind of stream that stands for a GPU's has its own.
void push(void* stream, std::function<bool()> ready, std::function<void()> work);

}  // namespace bench::fake_nccl
