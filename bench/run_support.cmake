# What a run needs besides flags and models: the printed lines, the clock, the machine's facts.

bench_library(bench_run_support
  SOURCES cgroup.cc environment.cc interrupt.cc line_stream.cc loaded_libraries.cc machine.cc
          machine_cpu.cc memory_limit.cc phase_watch.cc progress.cc report.cc step_statistics.cc system_files.cc
  HEADERS cgroup.h clock.h environment.h interrupt.h line_stream.h machine.h memory_limit.h phase_watch.h
          progress.h report.h step_statistics.h system_files.h
  LINK bench_base bench_results_lib)

bench_test(run_support_test LABELS quick
  SOURCES test/cgroup_test.cc test/environment_test.cc test/interrupt_test.cc test/line_stream_test.cc
          test/machine_test.cc test/memory_limit_test.cc test/phase_watch_test.cc test/progress_test.cc test/report_test.cc
          test/step_statistics_test.cc test/system_files_test.cc
  LINK bench_run_support)
