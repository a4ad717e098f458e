// Answers like a core library of another build; loaded before that of the programs.

#include "kernels/core_library.h"

const char* bench_core_build() { return "another"; }
