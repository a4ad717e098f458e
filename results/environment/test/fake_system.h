#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "models/base/test/scratch_folder.h"
#include "results/environment/system_files.h"

namespace bench {

/// A machine made of files: a test writes them and the code under test reads them.
class FakeSystem {
 public:
  /// Makes the file with all its folders.
  void write(std::string_view path, std::string_view text) const {
    const std::filesystem::path file = real(path);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void make_folder(std::string_view path) const { std::filesystem::create_directories(real(path)); }
  SystemFiles files() const { return SystemFiles(folder_.path()); }

 private:
  std::filesystem::path real(std::string_view path) const {
    return folder_.path() / std::filesystem::path(path).relative_path();
  }
  ScratchFolder folder_;
};

}  // namespace bench
