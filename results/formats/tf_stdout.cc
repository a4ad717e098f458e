#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <sstream>

#include "models/base/errors.h"
#include "results/formats/imported_record.h"
#include "results/formats/json_text.h"
#include "results/formats/rows.h"

/// The stdout of tf_cnn_benchmarks, and of bench in the same format.
namespace bench::results {
namespace {

constexpr const char* kTfStdoutName = "tf-stdout";

/// The header lines that say what was run, and the members that they set.
struct HeaderLine {
  const char* begins;
  const char* path;
};
constexpr std::array kHeaderLines = {
    HeaderLine{"Model:       ", "workload.model"},
    HeaderLine{"Data format: ", "workload.layout"},
    HeaderLine{"Optimizer:   ", "workload.optimizer"},
    HeaderLine{"Variables:   ", "workload.variable_update"},
    HeaderLine{"TensorFlow:  ", "workload.backend"},
    HeaderLine{"bench:       ", "source.bench_version"},
};

std::string_view after(std::string_view line, std::string_view begin) {
  return line.starts_with(begin) ? line.substr(begin.size()) : std::string_view();
}

std::int64_t first_integer(std::string_view text) {
  std::int64_t value = 0;
  const std::size_t start = text.find_first_not_of(' ');
  if (start == std::string_view::npos) return 0;
  std::from_chars(text.data() + start, text.data() + text.size(), value);
  return value;
}

/// The words before the number, such as "images/sec: ".
std::string speed_words(std::string_view metric) {
  return fmt::format("{}/sec: ", metric.substr(0, metric.find('_')));
}

/// The metric whose speed the text has; null if none.
const char* speed_in(std::string_view text) {
  const auto* const found = std::ranges::find_if(kSpeedMetrics, [&](const char* metric) {
    return text.find(speed_words(metric)) != std::string_view::npos;
  });
  return found == kSpeedMetrics.end() ? nullptr : *found;
}

double number_of(const ForeignFile& source, std::string_view text, int line, const char* what) {
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc()) {
    bad_source(source, fmt::format("line {}: {} is not a number", line, what));
  }
  return value;
}

/// One run of the file.
class PrintedRun {
 public:
  explicit PrintedRun(const ForeignFile& source)
      : source_(source), record_(source, kTfStdoutName) {}

  void add(std::string_view line, int number) {
    for (const HeaderLine& header : kHeaderLines) {
      const std::string_view value = after(line, header.begins);
      if (!value.empty()) record_.set(header.path, std::string(value));
    }
    add_settings(line);
    const char* const metric = speed_in(line);
    if (metric == nullptr) return;
    if (line.find("+/-") != std::string_view::npos) add_step(line, number);
    const std::string_view total = after(line, "total " + speed_words(metric));
    if (!total.empty()) {
      record_.metric(metric, number_of(source_, total, number, "the total"));
      ended_ = true;
    }
  }

  [[nodiscard]] bool ended() const { return ended_; }

  nlohmann::json finish() && {
    if (per_device_ > 0) record_.set("workload.devices", global_ / per_device_);
    if (losses_ > 0) {
      record_.metric("loss_first", loss_first_, "1");
      record_.metric("loss_last", loss_last_, "1");
    }
    return std::move(record_).finish();
  }

 private:
  void add_settings(std::string_view line) {
    if (const auto dataset = after(line, "Dataset:     "); !dataset.empty()) {
      const std::size_t mark = dataset.find(" (synthetic)");
      if (mark != std::string_view::npos) record_.set("workload.data", "synthetic");
      record_.set("dataset.name", std::string(dataset.substr(0, mark)));
    }
    if (const auto mode = after(line, "Mode:        "); !mode.empty()) {
      record_.set("workload.mode", mode_of_tf(mode));
    }
    if (const auto precision = after(line, "Precision:   "); !precision.empty()) {
      record_.set("workload.dtype", std::string(precision.substr(0, precision.find(' '))));
    }
    if (const auto batch = after(line, "Batch size:  "); !batch.empty()) {
      global_ = first_integer(batch);
      record_.set("workload.global_batch", global_);
    }
    if (line.ends_with(" per device")) {
      per_device_ = first_integer(line);
      record_.set("workload.batch_per_device", per_device_);
    }
    if (const auto batches = after(line, "Num batches: "); !batches.empty()) {
      record_.set("workload.num_batches", first_integer(batches));
    }
  }

  /// `10  images/sec: 8.2 +/- 0.1 (jitter = 0.4)  8.008`, accuracies may follow.
  void add_step(std::string_view line, int number) {
    const std::size_t bracket = line.find(')');
    if (bracket == std::string_view::npos) {
      bad_source(source_, fmt::format("line {}: the line of a step is incomplete", number));
    }
    std::string_view rest = line.substr(bracket + 1);
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    if (rest.empty()) {
      bad_source(source_, fmt::format("line {}: the line of a step has no loss", number));
    }
    if (!rest.starts_with("nan") && !rest.starts_with("inf")) {
      loss_last_ = number_of(source_, rest, number, "the loss");
      if (losses_++ == 0) loss_first_ = loss_last_;
    }
  }

  const ForeignFile& source_;
  ImportedRecord record_;
  std::int64_t global_ = 0;
  std::int64_t per_device_ = 0;
  double loss_first_ = 0;
  double loss_last_ = 0;
  int losses_ = 0;
  bool ended_ = false;
};

bool is_tf_stdout(const ForeignFile& source) {
  return source.text.find("Model:       ") != std::string::npos &&
         (source.text.find("Dataset:     ") != std::string::npos ||
          speed_in(source.text) != nullptr);
}

/// A run begins with its model's line. Text before the first such line, such as TensorFlow's
/// version, belongs to the first run.
Records read_tf_stdout(const ForeignFile& source) {
  Records records;
  std::istringstream lines(source.text);
  std::optional<PrintedRun> run;
  std::string line;
  std::string version;
  int number = 0;
  int began = 0;
  const auto finish = [&] {
    if (!run || began == 0) return;
    if (!run->ended()) {
      bad_source(source, fmt::format("the run that begins in line {} has no line such as 'total "
                                     "images/sec', so it did not complete",
                                     began));
    }
    records.push_back(std::move(*run).finish());
  };
  while (std::getline(lines, line)) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    const bool named = line.starts_with("TensorFlow:  ") || line.starts_with("bench:       ");
    if (named) version = line;
    if (line.starts_with("Model:       ")) {
      finish();
      run.emplace(source);
      began = number;
      run->add(version, number);
    }
    if (run && !named) run->add(line, number);
  }
  finish();
  return records;
}

}  // namespace

Format tf_stdout_format() {
  return {.name = kTfStdoutName,
          .what = "stdout of tf_cnn_benchmarks or bench",
          .sniff = is_tf_stdout,
          .read = read_tf_stdout};
}

}  // namespace bench::results
