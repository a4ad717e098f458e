// The fake NCCL on streams of the emulated GPU.
#include "kernels/cuda/device/runtime.h"
#include "kernels/test/fake_nccl.h"
#include "models/base/errors.h"

namespace bench::fake_nccl {

// Only for GPUs: an all-reduce that overlaps the backward pass needs a higher priority, a mistake
// that no device without priorities would reveal.
void push(void* stream, std::function<bool()> ready, std::function<void()> work) {
  int priority = 0;
  cuda::check_cuda(cudaStreamGetPriority(static_cast<cudaStream_t>(stream), &priority),
                   "cudaStreamGetPriority");
  check(priority < 0,
        "ncclAllReduce needs a stream with a higher priority than the computing ones");
  cuda::check_cuda(cuda::emulator::enqueue_when(std::move(ready), static_cast<cudaStream_t>(stream),
                                                "ncclAllReduce", std::move(work)),
                   "ncclAllReduce");
}

}  // namespace bench::fake_nccl
