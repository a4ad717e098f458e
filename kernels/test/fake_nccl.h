#pragma once

#include <functional>

namespace bench::fake_nccl {

/// After the stream's earlier work, polls `ready` until it returns true, and then calls `work`.
/// Each kind of stream that replaces a GPU's has a separate implementation.
void push(void* stream, std::function<bool()> ready, std::function<void()> work);

}  // namespace bench::fake_nccl
