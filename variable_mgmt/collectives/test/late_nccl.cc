// The fake NCCL on streams of the late device.
#include "kernels/test/fake_nccl.h"
#include "variable_mgmt/collectives/test/late_queue.h"

namespace bench::fake_nccl {

void push(void* stream, std::function<bool()> ready, std::function<void()> work) {
  auto* const queue = static_cast<LateQueue*>(stream);
  queue->push(queue->self, [ready = std::move(ready), work = std::move(work)] {
    const bool now = ready();
    if (now) {
      work();
    }
    return now;
  });
}

}  // namespace bench::fake_nccl
