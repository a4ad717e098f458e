#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>

#include "bench/flags/help.h"
#include "bench/plan/resolve_settings.h"
#include "bench/runs/benchmark.h"
#include "bench/runs/listing.h"
#include "bench/terminal/line_stream.h"
#include "bench/terminal/logging.h"
#include "kernels/core_library.h"
#include "kernels/cpu/openmp_environment.h"
#include "models/base/errors.h"
#include "models/base/text.h"
#include "results/record/build_info.h"

namespace {

constexpr int kFailed = 1;

int run(int argc, char** argv, std::ostream& err) {
  bench::ParseResult parsed;
  try {
    parsed = bench::parse_flags(argc, argv);
  } catch (const bench::UsageError& error) {
    return bench::refuse_command_line(error, err);
  }
  if (parsed.help_topic) {
    bench::print_help(std::cout, *parsed.help_topic);
    return 0;
  }
  if (parsed.version_asked) {
    std::cout << "bench " << bench::results::source_info().bench_version << "\n";
    return 0;
  }
  if (parsed.models_asked) {
    bench::list_models(std::cout);
    return 0;
  }
  if (parsed.variables_asked) {
    bench::list_variables(std::cout, bench::resolve_settings(parsed).workload);
    return 0;
  }
  // Before the run opens a library, which needs more than the smallest stacks.
  bench::check_stacks(bench::own_environment, bench::stack_limit_bytes());
  // Ignore these signals: a closed pipe and a file beyond `ulimit -f` are errors that the run
  // detects when it writes.
  (void)std::signal(SIGPIPE, SIG_IGN);
  (void)std::signal(SIGXFSZ, SIG_IGN);
  return bench::run_benchmark(
      parsed, {argv, argv + argc},
      {.out = std::cout,
       .err = err,
       .err_terminal = bench::terminal_at(STDERR_FILENO, std::getenv("TERM"))});
}

}  // namespace

int main(int argc, char** argv) {
  if (!bench::core_fits("bench")) {
    return kFailed;
  }
  bench::restart_with_short_waits(argv);
  bench::start_logging(argv[0]);
  bench::LineBuffer lines(STDERR_FILENO);
  std::ostream err(&lines);
  err.tie(&std::cout);  // Like std::cerr.
  try {
    const int status = run(argc, argv, err);
    if (!std::cout.flush()) {
      throw bench::WriteError("standard output cannot be written");
    }
    return status;
  } catch (const std::exception& error) {
    err << "bench: " << bench::printable(error.what()) << "\n";
    return bench::exit_status_of(error);
  }
}
