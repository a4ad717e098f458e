#pragma once

#include <string>
#include <vector>

namespace bench {

/// Returns the files of CIFAR-10's binary version in the folder, sorted. Throws UsageError if the
/// folder or the files are missing; the message gives the remedy if the folder holds the Python
/// version.
std::vector<std::string> find_cifar10_files(const std::string& data_dir, bool training);

}  // namespace bench
