#include "kernels/core_library.h"

const char* bench_core_build() { return bench::kCoreBuild; }
