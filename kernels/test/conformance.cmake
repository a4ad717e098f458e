# Shared parts of every backend's tests: a library that runs cases, and the suite itself. Each backend's test program
# compiles the suite's sources, since a library's unreferenced tests would not be linked.
bench_library(bench_case_runner
  SOURCES test/case_runner.cc
  HEADERS test/case_runner.h
  LINK bench_runtime bench_cases bench_reference)

set(BENCH_CONFORMANCE_SUITE "${CMAKE_CURRENT_SOURCE_DIR}/test/conformance_suite.cc"
    "${CMAKE_CURRENT_SOURCE_DIR}/test/normalization_suite.cc"
    "${CMAKE_CURRENT_SOURCE_DIR}/test/optimizer_suite.cc"
    "${CMAKE_CURRENT_SOURCE_DIR}/test/stream_suite.cc")

bench_test(conformance_test LONG SAMPLE 3 LABELS quick
  SOURCES test/conformance_test.cc ${BENCH_CONFORMANCE_SUITE}
  LINK bench_case_runner)

# A device whose memory the host may not access and whose work is done late, for tests of device code.
bench_library(bench_far_device
  SOURCES test/far_device.cc
  HEADERS test/far_device.h test/far_machine.h test/far_parts.h
  LINK bench_runtime)

bench_test(far_device_test LONG SAMPLE 3 LABELS quick
  SOURCES test/far_device_test.cc ${BENCH_CONFORMANCE_SUITE}
  LINK bench_far_device bench_case_runner bench_zoo)

set(BENCH_TUNING_SUITE "${CMAKE_CURRENT_SOURCE_DIR}/test/tuning_suite.cc")

bench_test(tuning_test LABELS quick
  SOURCES test/tuning_test.cc ${BENCH_TUNING_SUITE}
  LINK bench_reference bench_far_device)

bench_test(gradient_test LABELS quick
  SOURCES test/gradient_test.cc
  LINK bench_case_runner)

bench_test(onednn_conformance_test LONG LABELS conformance
  SOURCES test/onednn_candidates_test.cc test/onednn_conformance_test.cc ${BENCH_CONFORMANCE_SUITE}
  LINK bench_case_runner bench_onednn bench_cpu_host)

# A part of the cases with fewer instruction sets. On a processor without more, the cap changes nothing.
foreach(isa AVX2 AVX512_CORE AVX512_CORE_VNNI)
  string(TOLOWER onednn_conformance_${isa} name)
  add_test(NAME ${name}
    COMMAND "${PROJECT_SOURCE_DIR}/tools/sample" gtest 4 $<TARGET_FILE:onednn_conformance_test> --gtest_brief=1
            --gtest_filter=*_auto_*:*Candidates*)
  set_tests_properties(${name} PROPERTIES LABELS conformance
                       ENVIRONMENT "OMP_WAIT_POLICY=passive;ONEDNN_MAX_CPU_ISA=${isa}")
endforeach()
