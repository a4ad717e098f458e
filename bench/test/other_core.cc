// What a core of another build answers, to be loaded before the programs' own.

#include "kernels/core_library.h"

const char* bench_core_build() { return "another"; }
