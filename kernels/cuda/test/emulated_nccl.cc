// The fake NCCL on streams of the emulated GPU.
#include "kernels/cuda/runtime.h"
#include "kernels/test/fake_nccl.h"

namespace bench::fake_nccl {

void push(void* stream, std::function<bool()> ready, std::function<void()> work) {
  cuda::check_cuda(cuda::emulator::enqueue_when(std::move(ready), static_cast<cudaStream_t>(stream),
                                                "ncclAllReduce", std::move(work)),
                   "ncclAllReduce");
}

}  // namespace bench::fake_nccl
