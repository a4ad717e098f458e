#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// A fuzz target defines both functions. libFuzzer calls the first; standalone_main.cc calls it with
// mutations of the second's inputs.

/// Must return for every input. A crash, a sanitizer report or an uncaught exception is a finding.
// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

/// Valid inputs to start from.
std::vector<std::string> fuzz_seeds();
