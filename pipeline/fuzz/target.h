#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// A fuzz target defines both. libFuzzer calls the first; standalone_main.cc calls the first with
// mutations of the second.

/// Must return for every input; a crash, a sanitizer report or an uncaught exception is a finding.
// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

/// Valid inputs to start from.
std::vector<std::string> fuzz_seeds();
