#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/plan/settings.h"
#include "kernels/executor.h"
#include "models/base/atomic_file.h"
#include "models/base/tensor_file.h"
#include "models/base/watch.h"
#include "variable_mgmt/weights.h"

namespace bench {

/// The safetensors files of a run: --init_from, --input_file, --save_variables, --dump_tensors.
class RunTensorFiles {
 public:
  /// Opens input files and checks them against the run's network. Also checks that output files can
  /// be written. Throws UsageError or DataError with the file's name.
  RunTensorFiles(const RunSettings& settings, const Graph& network);

  /// Sentences for the user.
  [[nodiscard]] std::vector<std::string> notices() const;

  /// Replaces drawn values with those of --init_from.
  void load(InitialValues& values, const Watch& watch = {}) const;

  /// The checksum of the variables that load() read; empty without --init_from.
  [[nodiscard]] std::string loaded_sum(const InitialValues& values) const;
  /// The training steps that the file of --init_from names; 0 if it names none.
  [[nodiscard]] std::int64_t source_step() const;

  [[nodiscard]] bool dumps() const { return dump_.has_value(); }
  /// Writes the tensors of the first step to the file of --dump_tensors. Throws WriteError.
  void write_dump(std::span<const TensorToWrite> tensors) const;

  /// Writes the variables after `global_step` steps to the file of --save_variables. Throws
  /// WriteError.
  void save(Executor& executor, std::int64_t global_step) const;

 private:
  [[nodiscard]] std::map<std::string, std::string> metadata(std::int64_t global_step) const;

  const RunSettings& settings_;
  std::optional<TensorFile> source_;
  LoadPlan plan_;
  std::optional<AtomicFile> save_;
  std::optional<AtomicFile> dump_;
};

}  // namespace bench
