#pragma once

#include <cstdio>
#include <cstring>

#include "kernels/core_build.h"

/// The build of the program's core library. It is a C function, so that programs of every build can
/// call it.
extern "C" const char* bench_core_build();

namespace bench {

/// Returns true if the loaded library is from this program's build. Otherwise no other function of
/// it may be called.
inline bool core_is_of_this_build() { return std::strcmp(bench_core_build(), kCoreBuild) == 0; }

/// The same, but also reports a mismatch on standard error for a program named `program`, without
/// calling the library.
inline bool core_fits(const char* program) {
  if (core_is_of_this_build()) {
    return true;
  }
  (void)std::fprintf(
      stderr,
      "%s: libbench_core.so and this program come from different builds; use both from one build\n",
      program);
  return false;
}

}  // namespace bench
