#include <iostream>
#include <string>
#include <vector>

#include "bench/terminal/interrupt.h"
#include "tools/make_tfrecords_src/run.h"

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const bench::InterruptGuard interrupt({.ending = "make_tfrecords ends after the current image",
                                         .lost = "removing incomplete files"});
  const int status =
      bench::make_tfrecords(words, std::cout, std::cerr, [&] { return interrupt.requested(); });
  return status == bench::kInterruptedStatus ? interrupt.exit_status() : status;
}
