#pragma once

#include <string>
#include <vector>

namespace bench {

/// The files of CIFAR-10's binary version in the folder, sorted. Throws UsageError when the folder
/// is missing or holds none, with the way out when it holds the Python version.
std::vector<std::string> find_cifar10_files(const std::string& data_dir, bool training);

}  // namespace bench
