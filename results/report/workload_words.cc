#include "results/report/workload_words.h"

#include "models/base/errors.h"
#include "results/formats/record_view.h"

namespace bench::results {
namespace {

void add_word(std::string& text, const std::string& word) {
  if (word.empty()) {
    return;
  }
  text += text.empty() ? word : fmt::format(", {}", word);
}

std::string mode_word(const nlohmann::json& record) {
  const std::string mode = text_field(record, "workload.mode");
  return mode == "train" ? "training" : mode == "fwd" ? "inference" : mode;
}

std::string batch_words(const nlohmann::json& record) {
  const auto batch = integer_field(record, "workload.batch_per_device");
  const auto devices = integer_field(record, "workload.devices").value_or(1);
  if (devices <= 1) {
    return batch ? fmt::format("batch {}", *batch) : "";
  }
  return batch ? fmt::format("{} devices with batch {} each", devices, *batch)
               : fmt::format("{} devices", devices);
}

}  // namespace

std::string workload_words(const nlohmann::json& record) {
  std::string text = text_field(record, "workload.model");
  if (text.empty()) {
    return "";
  }
  add_word(text, mode_word(record));
  add_word(text, batch_words(record));
  add_word(text, text_field(record, "workload.dtype"));
  const std::string data = text_field(record, "workload.data");
  add_word(text, data == "synthetic" ? "" : data);
  return text;
}

std::string workload_group(const nlohmann::json& record) {
  std::string text = mode_word(record);
  add_word(text, text_field(record, "workload.dtype"));
  return text.empty() ? "other workloads" : text;
}

}  // namespace bench::results
