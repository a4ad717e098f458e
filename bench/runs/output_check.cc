#include "bench/runs/output_check.h"

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/atomic_file.h"
#include "models/base/errors.h"

namespace bench {
namespace {

struct Output {
  std::string_view flag;
  std::string path;
  OutputTarget target;
  /// Empty for targets that may be used twice.
  std::string identity;
};

std::vector<Output> outputs_of(const OutputFiles& files) {
  std::vector<Output> outputs;
  const auto add = [&](std::string_view flag, const std::optional<std::string>& path) {
    if (path && !path->empty()) {
      const std::string what = fmt::format("file of --{}", flag);
      (void)AtomicFile(*path, what);  // Throws if it cannot be written.
      OutputTarget target = find_output(*path, what);
      std::string identity = target.identity();
      outputs.push_back({flag, *path, std::move(target), std::move(identity)});
    }
  };
  add("result_file", files.result);
  add("save_variables", files.save_variables);
  add("dump_tensors", files.dump_tensors);
  add("trace_file", files.trace);
  return outputs;
}

void check_tensors_apart_from_text(const Output& output) {
  const bool tensors = output.flag == "save_variables" || output.flag == "dump_tensors";
  if (tensors && output.target.descriptor == STDOUT_FILENO) {
    throw UsageError(fmt::format(
        "--{}={}: tensors cannot go to standard output, where bench prints the result; give a file",
        output.flag, output.path));
  }
}

/// Refuses a file that would be replaced while stdout or stderr continues into the old file.
void check_apart_from_own_lines(const Output& output) {
  if (output.target.kind != OutputTarget::Kind::file) {
    return;
  }
  for (const auto& [descriptor, stream, name] :
       {std::tuple{STDOUT_FILENO, "output", "/dev/stdout"},
        std::tuple{STDERR_FILENO, "error", "/dev/stderr"}}) {
    if (!output.identity.empty() && output.identity == regular_file_identity(descriptor)) {
      throw UsageError(fmt::format(
          "--{}={}: standard {} is already redirected to this file; give {} to append to it",
          output.flag, output.path, stream, name));
    }
  }
}

void check_apart_from_input(const Output& output, std::string_view flag, const std::string& input) {
  if (!output.identity.empty() && output.identity == file_identity(input)) {
    throw UsageError(fmt::format("--{}={} would overwrite {}, which --{} reads; give another file",
                                 output.flag, output.path, input, flag));
  }
}

void check_apart_from_inputs(const Output& output, const RunSettings& settings) {
  const Workload& workload = settings.workload;
  for (const std::string& file : settings.outputs.flag_files) {
    check_apart_from_input(output, "flagfile", file);
  }
  if (settings.execution.choices_file) {
    check_apart_from_input(output, "choices_file", *settings.execution.choices_file);
  }
  if (workload.init_from) {
    check_apart_from_input(output, workload.init_flag, *workload.init_from);
  }
  if (workload.input.file) {
    check_apart_from_input(output, "input_file", *workload.input.file);
  }
  std::error_code error;
  if (const auto& folder = settings.outputs.checkpoints.folder;
      folder && std::filesystem::equivalent(output.target.path.parent_path(), *folder, error)) {
    throw UsageError(fmt::format("--{}={} is in the folder of --train_dir; give another folder",
                                 output.flag, output.path));
  }
  if (!workload.input.dataset || !std::filesystem::exists(output.target.path, error)) {
    return;
  }
  // Another check refuses an unreadable folder.
  std::filesystem::directory_iterator entries(workload.input.dataset->data_dir, error);
  for (const std::filesystem::directory_iterator end; !error && entries != end;
       entries.increment(error)) {
    check_apart_from_input(output, "data_dir", entries->path().string());
  }
}

}  // namespace

void check_outputs(const RunSettings& settings) {
  const std::vector<Output> outputs = outputs_of(settings.outputs.files);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    check_tensors_apart_from_text(outputs[i]);
    check_apart_from_own_lines(outputs[i]);
    check_apart_from_inputs(outputs[i], settings);
    for (std::size_t j = i + 1; j < outputs.size(); ++j) {
      if (!outputs[i].identity.empty() && outputs[i].identity == outputs[j].identity) {
        throw UsageError(fmt::format("--{} and --{} name the same file, {}; give different files",
                                     outputs[i].flag, outputs[j].flag, outputs[i].path));
      }
    }
  }
}

}  // namespace bench
