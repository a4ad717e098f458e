#pragma once

#include <iosfwd>
#include <span>
#include <string>

namespace bench {

/// Runs the program and returns its exit status. Help goes to `out`, progress and errors to `err`.
int make_tfrecords(std::span<const std::string> words, std::ostream& out, std::ostream& err);

}  // namespace bench
