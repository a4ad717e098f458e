#include <csignal>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "models/base/errors.h"
#include "models/base/text.h"
#include "results/record/build_info.h"
#include "results/tool/help.h"

namespace {

using bench::results::Command;
using bench::results::Streams;

constexpr int kUsage = 2;
constexpr int kData = 3;
constexpr int kOurs = 70;         // EX_SOFTWARE of sysexits.h; 1 is a regression.
constexpr int kWriteFailed = 74;  // EX_IOERR.

int run(std::vector<std::string> words) {
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    bench::results::print_help(words.empty() ? std::cerr : std::cout);
    return words.empty() ? kUsage : 0;
  }
  if (words[0] == "--version") {
    std::cout << "bench_results " << bench::results::source_info().bench_version << "\n";
    return 0;
  }
  const std::size_t at = bench::results::command_position(words);
  if (at == words.size()) {
    throw bench::UsageError("no command was given; bench_results --help lists all");
  }
  const Command& command = bench::results::find_command(words[at]);
  words.erase(words.begin() + static_cast<std::ptrdiff_t>(at));
  const bench::Arguments arguments(fmt::format("bench_results {}", command.name), command.options(),
                                   words);
  if (arguments.help()) {
    bench::results::print_help(std::cout, command);
    return 0;
  }
  return command.run(arguments, Streams{.out = std::cout, .err = std::cerr});
}

int fail(const std::exception& error, int status) {
  std::cerr << "bench_results: " << bench::printable(error.what()) << "\n";
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  // A closed pipe and a file beyond `ulimit -f` become errors of the write.
  (void)std::signal(SIGPIPE, SIG_IGN);
  (void)std::signal(SIGXFSZ, SIG_IGN);
  try {
    const int status = run({argv + 1, argv + argc});
    if (!std::cout.flush()) {
      throw bench::WriteError("cannot write to standard output");
    }
    return status;
  } catch (const bench::UsageError& error) {
    return fail(error, kUsage);
  } catch (const bench::DataError& error) {
    return fail(error, kData);
  } catch (const bench::WriteError& error) {
    return fail(error, kWriteFailed);
  } catch (const std::exception& error) {
    return fail(error, kOurs);
  }
}
