#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/plan/settings.h"
#include "pipeline/input.h"
#include "variable_mgmt/tower.h"
#include "variable_mgmt/weights.h"

namespace bench {

/// The safetensors files of a run: --init_from, --input_file, --save_variables, --dump_tensors.
class RunTensorFiles {
 public:
  /// Opens what is read, holds it against the run's network, and checks that what is written can
  /// be. Throws UsageError or DataError, naming the file.
  RunTensorFiles(const RunSettings& settings, const Graph& network);

  /// Sentences for the user.
  [[nodiscard]] std::vector<std::string> notices() const;

  /// Puts what --init_from gives in the place of drawn values.
  void load(InitialValues& values, const Watch& watch = {}) const;

  [[nodiscard]] bool dumps() const { return dump_.has_value(); }
  /// Runs the first step on a batch, without an update, and writes its tensors in canonical order:
  /// `logits`; when training also `loss` (without the L2 term), `total_loss` (with it), and the
  /// derivative of `loss` by each trained variable, as `grad/<variable>`. `watch` hears of the step
  /// before anything is written. Throws WriteError.
  void dump(Tower& tower, const InputBatch& batch, const Watch& watch = {}) const;

  /// Writes the variables where --save_variables says, after so many steps. Throws WriteError.
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
