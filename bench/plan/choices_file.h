#pragma once

#include <string>

#include "kernels/runtime/choices.h"

namespace bench {

/// Choices as JSON: what --dump=choices prints and --choices_file reads.
std::string to_text(const Choices& choices);

/// Throws UsageError, naming the file, where it cannot be read or is none of these.
Choices read_choices(const std::string& path);

}  // namespace bench
