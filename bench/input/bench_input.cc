// Measures how fast a machine prepares a dataset's images, without a network. See README.md in this
// folder.

#include <iostream>
#include <optional>
#include <utility>

#include "bench/input/measure.h"
#include "bench/input/options.h"
#include "bench/terminal/interrupt.h"
#include "models/base/atomic_file.h"
#include "models/base/errors.h"
#include "models/base/text.h"
#include "models/base/threads.h"

namespace bench {
namespace {

int run(std::span<const std::string> words) {
  const int processors = usable_processors();
  const InputOptions options = read_input_options(words, processors);
  if (options.help) {
    print_input_usage(std::cout);
    return 0;
  }
  if (options.checked_batches > 0) {
    for (const int threads : options.threads) {
      std::cout << fmt::format("checksum of {} batches with {} thread{}: {:08x}\n",
                               options.checked_batches, threads, threads == 1 ? "" : "s",
                               checksum_of_batches(options, threads))
                << std::flush;
    }
    return 0;
  }
  std::optional<AtomicFile> file;
  if (!options.result_file.empty()) {
    file.emplace(options.result_file);
  }
  const InterruptGuard interrupt(
      {.ending = "bench_input ends after the current batch", .lost = "results"});
  std::vector<InputResult> results;
  for (const int threads : options.threads) {
    const auto tell = [&](int repeat) {
      std::cerr << fmt::format("{} thread{}: measurement {} of {}\n", threads,
                               threads == 1 ? "" : "s", repeat + 1, options.repeats);
    };
    InputResult result =
        measure_input(options, threads, processors, tell, [&] { return interrupt.requested(); });
    if (!result.images_per_second.empty()) {
      results.push_back(std::move(result));
    }
    if (interrupt.requested()) break;
  }
  if (results.empty()) {
    return interrupt.exit_status();
  }
  if (const BadRecordCounts& bad = results.back().all.done.bad_records; bad.total() > 0) {
    std::cerr << "warning: skipped " << printable(describe(bad)) << "\n";
  }
  if (options.result_file != "-") {
    if (!(std::cout << input_table(options, results) << std::flush)) {
      throw WriteError("cannot write to stdout");
    }
  }
  if (file) {
    file->write(input_json(options, results));
  }
  return interrupt.requested() ? interrupt.exit_status() : 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  constexpr int kWriteFailed = 74;  // bench uses the same status.
  try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    return bench::run(words);
  } catch (const bench::UsageError& error) {
    std::cerr << "bench_input: " << bench::printable(error.what()) << "\n";
    return 2;
  } catch (const bench::DataError& error) {
    std::cerr << "bench_input: " << bench::printable(error.what()) << "\n";
    return 2;
  } catch (const bench::WriteError& error) {
    std::cerr << "bench_input: " << bench::printable(error.what()) << "\n";
    return kWriteFailed;
  } catch (const std::exception& error) {
    std::cerr << "bench_input: " << bench::printable(error.what()) << "\n";
    return 1;
  }
}
