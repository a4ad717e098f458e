#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "tools/make_tfrecords_src/interrupted.h"

namespace bench {

/// Runs the program and returns its exit status. Help goes to `out`, progress and errors to `err`.
/// It stops between two images once `interrupted` is true, and removes what is not complete; the
/// status is then kInterruptedStatus.
int make_tfrecords(std::span<const std::string> words, std::ostream& out, std::ostream& err,
                   const IsInterrupted& interrupted = {});

inline constexpr int kInterruptedStatus = 130;

}  // namespace bench
