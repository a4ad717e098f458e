// A library of the program's core of another build, to be linked into the program with --wrap.

extern "C" const char* core_of_another_build() asm("__wrap_bench_core_build");

const char* core_of_another_build() { return "another"; }
