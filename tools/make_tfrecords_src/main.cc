#include <iostream>
#include <string_view>
#include <vector>

#include "tools/make_tfrecords_src/run.h"

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  return bench::make_tfrecords(arguments, std::cout, std::cerr);
}
