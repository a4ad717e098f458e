#include "models/base/huge_pages.h"

#include <sys/mman.h>

namespace bench {

void advise_huge_pages(void* memory, std::size_t bytes) {
  static_cast<void>(madvise(memory, bytes, MADV_HUGEPAGE));
}

}  // namespace bench
