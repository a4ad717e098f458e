# Which processors and which instruction sets a run may use; independent of any backend.

bench_library(bench_cpu_host
  SOURCES cpu/affinity.cc cpu/cpu_isa.cc cpu/library_variables.cc cpu/openmp_environment.cc
          cpu/topology.cc
  HEADERS cpu/affinity.h cpu/cpu_isa.h cpu/library_variables.h cpu/openmp_environment.h cpu/topology.h
  LINK bench_base
  PRIVATE_LINK hwloc::hwloc)

bench_test(cpu_host_test SEPARATE LABELS quick
  SOURCES cpu/test/affinity_test.cc cpu/test/cpu_isa_test.cc cpu/test/library_variables_test.cc
          cpu/test/openmp_environment_test.cc cpu/test/topology_test.cc
  LINK bench_cpu_host)
