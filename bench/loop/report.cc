#include "bench/loop/report.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdio>

#include "models/base/errors.h"

namespace bench::report {
namespace {

/// `value` with a fixed number of decimals; non-finite values as Python prints them.
std::string fixed(double value, int decimals) {
  if (std::isnan(value)) return "nan";
  std::array<char, 512> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

const char* python_bool(bool value) { return value ? "True" : "False"; }

void field(std::ostream& out, std::string_view title, std::string_view value) {
  constexpr std::size_t kColumn = 13;
  std::string line(title);
  line.resize(std::max(line.size() + 1, kColumn), ' ');
  out << line << value << '\n';
}

bool reduces_between_devices(std::string_view variable_update) {
  return variable_update == "replicated" || variable_update == "distributed_all_reduce" ||
         variable_update == "collective_all_reduce";
}

std::string python_string(std::string_view text) {
  const bool single = text.find('\'') != text.npos && text.find('"') == text.npos;
  const char quote = single ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') out += '\\';
    out += c;
  }
  return out + quote;
}

constexpr std::string_view kRule =
    "----------------------------------------------------------------";
static_assert(kRule.size() == 64);

}  // namespace

std::string python_list(const std::vector<std::string>& items) {
  std::string out = "[";
  for (const std::string& item : items) {
    if (out.size() > 1) out += ", ";
    out += python_string(item);
  }
  return out + "]";
}

void print_header(std::ostream& out, const Header& header) {
  field(out, "bench:", header.version);
  field(out, "Model:", header.model);
  field(out, "Dataset:", header.dataset + (header.synthetic ? " (synthetic)" : ""));
  field(out, "Mode:", header.mode);
  field(out, "SingleSess:", python_bool(header.single_session));
  field(out, "Batch size:", fmt::format("{} global", header.global_batch));
  field(out, "", fmt::format("{} per device", header.batch_per_device));
  if (header.batches_per_group > 1) {
    // The original's spelling: scripts may search for it.
    field(out, "", fmt::format("{} batches per prepocessing group", header.batches_per_group));
  }
  field(out, "Num batches:", fmt::format("{}", header.num_batches));
  field(out, "Num epochs:", fixed(header.num_epochs, 2));
  field(out, "Devices:", python_list(header.devices));
  field(out, "NUMA bind:", python_bool(header.numa_bind));
  field(out, "Data format:", header.data_format);
  field(out, "Precision:", header.precision);
  if (!header.rewriter_config.empty()) field(out, "RewriterConfig:", header.rewriter_config);
  field(out, "Optimizer:", header.optimizer);
  field(out, "Variables:", header.variable_update);
  if (reduces_between_devices(header.variable_update)) {
    field(out, "AllReduce:", header.all_reduce_spec.empty() ? "None" : header.all_reduce_spec);
  }
  if (header.cross_replica_sync) field(out, "Sync:", python_bool(*header.cross_replica_sync));
  if (header.staged_vars) field(out, "Staged vars:", "True");
  if (!header.horovod_device.empty()) field(out, "Horovod on:", header.horovod_device);
  out << "==========" << std::endl;
}

void print_generating_model(std::ostream& out, bool evaluation) {
  out << "Generating " << (evaluation ? "evaluation" : "training") << " model" << std::endl;
}

void print_initializing_graph(std::ostream& out) { out << "Initializing graph" << std::endl; }

void print_rounded_warm_up(std::ostream& out, std::int64_t steps) {
  out << "Round up warm up steps to " << steps << " to match batch_group_size\n" << std::flush;
}

void print_running_warm_up(std::ostream& out) { out << "Running warm up" << std::endl; }

void print_done_warm_up(std::ostream& out) { out << "Done warm up" << std::endl; }

void print_step_titles(std::ostream& out, std::string_view unit, std::string_view loss_name,
                       bool accuracies) {
  std::string title(unit == "images" ? "img" : unit);
  title.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(title.front())));
  out << "Step\t" << title << "/sec\t" << loss_name
      << (accuracies ? "\ttop_1_accuracy\ttop_5_accuracy" : "") << std::endl;
}

void print_step(std::ostream& out, const StepLine& line) {
  out << fmt::format("{}", line.step) << "\t" << line.unit << "/sec: " << fixed(line.speed.mean, 1)
      << " +/- " << fixed(line.speed.uncertainty, 1) << " (jitter = " << fixed(line.speed.jitter, 1)
      << ")\t" << fixed(line.loss, 3);
  if (line.accuracies) {
    out << '\t' << fixed(line.accuracies->top_1, 3) << '\t' << fixed(line.accuracies->top_5, 3);
  }
  out << std::endl;
}

void print_evaluated(std::ostream& out, std::int64_t batch, double examples_per_second) {
  out << batch << '\t' << fixed(examples_per_second, 1) << " examples/sec" << std::endl;
}

void print_accuracy(std::ostream& out, const Accuracies& accuracies, std::int64_t images) {
  out << "Accuracy @ 1 = " << fixed(accuracies.top_1, 4)
      << " Accuracy @ 5 = " << fixed(accuracies.top_5, 4) << " [" << images << " examples]"
      << std::endl;
}

void print_scores(std::ostream& out, const std::vector<Score>& scores, std::int64_t examples) {
  for (const Score& score : scores) {
    out << score.name << " = " << fixed(score.value, 4) << ' ';
  }
  out << '[' << examples << " examples]" << std::endl;
}

void print_running_evaluation(std::ostream& out, std::int64_t global_step, bool final) {
  out << "Running " << (final ? "final " : "") << "evaluation at global_step " << global_step
      << std::endl;
}

void print_resuming_training(std::ostream& out) { out << "Resuming training" << std::endl; }

void print_stopping_at_accuracy(std::ostream& out, double top_1) {
  out << fmt::format("Stopping, as eval accuracy at least {} was reached", top_1) << std::endl;
}

void print_done_with_training(std::ostream& out) { out << "Done with training" << std::endl; }

void print_dumping_trace(std::ostream& out, std::string_view file) {
  out << "Dumping trace to " << file << std::endl;
}

void print_total(std::ostream& out, std::string_view unit, double per_second) {
  out << kRule << "\ntotal " << unit << "/sec: " << fixed(per_second, 2) << '\n'
      << kRule << std::endl;
}

}  // namespace bench::report
