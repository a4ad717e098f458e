#pragma once

#include <cstdio>
#include <cstring>

#include "kernels/core_build.h"

/// What the library of the program's core was built of; in C, so that programs of every build can
/// ask it.
extern "C" const char* bench_core_build();

namespace bench {

/// Whether the library that was loaded is of this program's build. Where it is not, nothing else of
/// it may be called.
inline bool core_is_of_this_build() { return std::strcmp(bench_core_build(), kCoreBuild) == 0; }

/// The same for a program of that name, which says so on standard error, without a call into the
/// library.
inline bool core_fits(const char* program) {
  if (core_is_of_this_build()) {
    return true;
  }
  (void)std::fprintf(stderr,
                     "%s: libbench_core.so is of another build than this program; take both from "
                     "one build\n",
                     program);
  return false;
}

}  // namespace bench
