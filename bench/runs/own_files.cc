#include "bench/runs/own_files.h"

#include <filesystem>

#include "models/base/output_target.h"

namespace bench {

std::string path_with(const std::string& path, const std::string& mark) {
  const std::filesystem::path whole(path);
  std::filesystem::path name = whole.stem();
  name += "." + mark;
  name += whole.extension();
  return (whole.parent_path() / name).string();
}

RunSettings with_own_files(RunSettings settings, const std::string& mark) {
  OutputFiles& files = settings.outputs.files;
  for (auto* path : {&files.result, &files.save_variables, &files.trace}) {
    // A stream receives the output of all runs in sequence.
    if (*path && find_output(**path, "file of a run").kind == OutputTarget::Kind::file) {
      *path = path_with(**path, mark);
    }
  }
  if (files.benchmark_logs) {  // A folder, whose name has no extension.
    while (files.benchmark_logs->size() > 1 && files.benchmark_logs->ends_with('/')) {
      files.benchmark_logs->pop_back();
    }
    *files.benchmark_logs += "." + mark;
  }
  return settings;
}

}  // namespace bench
