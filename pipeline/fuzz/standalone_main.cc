// Runs a fuzz target on its seeds and on a fixed number of random mutations of them, which are the
// same each time. Usage: PROGRAM [RUNS [FOLDER]]. It also writes the seeds to the folder, for
// libFuzzer.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>

#include "models/base/philox.h"
#include "pipeline/fuzz/target.h"

namespace {

std::uint32_t place_in(const std::string& text, bench::RandomStream& random) {
  return random.below(static_cast<std::uint32_t>(text.size()));
}

/// Flips, overwrites, cuts, repeats or inserts a few bytes.
std::string mutate(std::string text, bench::RandomStream& random) {
  for (std::uint32_t i = 0; i <= random.below(4) && !text.empty(); ++i) {
    const std::uint32_t place = place_in(text, random);
    const std::uint32_t length =
        std::min(1 + random.below(16), static_cast<std::uint32_t>(text.size()) - place);
    switch (random.below(5)) {
      case 0:
        text[place] = static_cast<char>(text[place] ^ (1 << random.below(8)));
        break;
      case 1:
        text[place] = static_cast<char>(random.bits());
        break;
      case 2:
        text.erase(place, length);
        break;
      case 3:
        text.insert(place_in(text, random), text.substr(place, length));
        break;
      default:
        text.resize(place);
    }
  }
  return text;
}

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

}  // namespace

int main(int argc, char** argv) {
  const long runs = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 2000;
  const std::vector<std::string> seeds = fuzz_seeds();
  if (argc > 2) {
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      std::ofstream(argv[2] + ("/seed" + std::to_string(i)), std::ios::binary) << seeds[i];
    }
  }
  long round = 0;
  try {
    for (const std::string& seed : seeds) {
      run(seed);
    }
    bench::RandomStream random(1);
    for (; round < runs; ++round) {
      run(mutate(seeds[random.below(static_cast<std::uint32_t>(seeds.size()))], random));
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "run %ld: %s\n", round, error.what());
    return 1;
  }
  std::printf("%zu seeds and %ld mutations: no finding\n", seeds.size(), runs);
  return 0;
}
