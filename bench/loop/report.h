#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "bench/loop/step_statistics.h"

/// The lines on stdout. They equal those of tf_cnn_benchmarks byte for byte, except for the first
/// line and the precision, so that scripts can parse them. Each function writes whole lines and
/// flushes, so a reader of a pipe sees them at once.
namespace bench::report {

/// The contents of the first block about the run.
struct Header {
  std::string version{};  ///< The version of this program: "0.1".
  std::string model{};
  std::string dataset{};   ///< imagenet, cifar10, ...
  bool synthetic = false;  ///< No data folder was given.
  std::string mode{};      ///< training, evaluation, training + evaluation, or forward only.
  bool single_session = false;
  std::int64_t global_batch = 0;
  std::int64_t batch_per_device = 0;
  std::int64_t batches_per_group = 1;
  std::int64_t num_batches = 0;
  double num_epochs = 0;
  std::vector<std::string> devices{};
  bool numa_bind = false;
  std::string data_format{};
  std::string precision{};        ///< "f32", "bf16 (f32 variables)".
  std::string rewriter_config{};  ///< Empty: no line.
  std::string optimizer{};
  std::string variable_update{};
  /// The line "AllReduce:" exists only for replicated, distributed_all_reduce and
  /// collective_all_reduce; an empty text prints as None.
  std::string all_reduce_spec{};
  std::optional<bool> cross_replica_sync{};  ///< nullopt: no line (not distributed).
  bool staged_vars = false;
  std::string horovod_device{};  ///< Empty: no line.
};

void print_header(std::ostream& out, const Header& header);

/// Prints "Generating training model", or "evaluation" for a run that only evaluates.
void print_generating_model(std::ostream& out, bool evaluation = false);
void print_initializing_graph(std::ostream& out);
/// Reports that warm-up was lengthened to whole producer groups.
void print_rounded_warm_up(std::ostream& out, std::int64_t steps);
void print_running_warm_up(std::ostream& out);
void print_done_warm_up(std::ostream& out);

/// Prints the column titles of the step lines. `unit` is images or tokens, `loss_name` total_loss
/// or base_loss.
void print_step_titles(std::ostream& out, std::string_view unit, std::string_view loss_name,
                       bool accuracies);

struct Accuracies {
  double top_1 = 0;
  double top_5 = 0;
};

/// What an evaluation found, where that is not an accuracy.
struct Score {
  std::string_view name;
  double value = 0;
};

/// One step line; `step` counts from 1.
struct StepLine {
  std::int64_t step = 0;
  std::string_view unit = "images";
  Speed speed{};
  double loss = 0;
  std::optional<Accuracies> accuracies{};
};
void print_step(std::ostream& out, const StepLine& line);

/// The lines of an evaluation: the speed of the last batches up to number `batch`, and the result.
void print_evaluated(std::ostream& out, std::int64_t batch, double examples_per_second);
void print_accuracy(std::ostream& out, const Accuracies& accuracies, std::int64_t images);
void print_scores(std::ostream& out, const std::vector<Score>& scores, std::int64_t examples);
/// The lines around evaluations of a training run.
void print_running_evaluation(std::ostream& out, std::int64_t global_step, bool final);
void print_resuming_training(std::ostream& out);
void print_stopping_at_accuracy(std::ostream& out, double top_1);
void print_done_with_training(std::ostream& out);

/// Reports that the trace is about to be written to `file`.
void print_dumping_trace(std::ostream& out, std::string_view file);

/// Prints the last block. Omitted for a run that was interrupted.
void print_total(std::ostream& out, std::string_view unit, double per_second);

/// ['/cpu:0', '/cpu:1'], as Python prints a list of strings.
std::string python_list(const std::vector<std::string>& items);

}  // namespace bench::report
