#include <iostream>
#include <string>
#include <vector>

#include "tools/make_tfrecords_src/run.h"

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  return bench::make_tfrecords(words, std::cout, std::cerr);
}
