#include <bit>

#include "models/base/crc32c.h"
#include "models/base/errors.h"
#include "results/formats/record_view.h"
#include "results/formats/rows.h"

/// TensorBoard's event files: TFRecords of the protocol buffer tensorflow.Event. These fields are
/// needed:
///     wall_time = 1 (double), step = 2 (int64), and one of:
///     file_version = 3 (string)
///     summary = 5 with value = 1 { tag = 1 (string), simple_value = 2 (float) }
namespace bench::results {
namespace {

/// The bytes of a protocol buffer: fields in the order in which they are added.
class Message {
 public:
  Message& fixed64(int field, double value) { return key(field, 1).raw(value); }
  Message& fixed32(int field, float value) { return key(field, 5).raw(value); }
  Message& varint_field(int field, std::uint64_t value) { return key(field, 0).varint(value); }
  Message& bytes(int field, std::string_view value) {
    key(field, 2).varint(value.size());
    text_ += value;
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  Message& varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) text_ += static_cast<char>(0x80U | (value & 0x7FU));
    text_ += static_cast<char>(value);
    return *this;
  }
  Message& key(int field, unsigned wire_type) {
    return varint((static_cast<unsigned>(field) << 3U) | wire_type);
  }
  template <class T>
  Message& raw(T value) {
    static_assert(std::endian::native == std::endian::little);
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }

  std::string text_;
};

template <class T>
void append_raw(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// One TFRecord: length, its checksum, the data, their checksum.
void append_event(std::string& file, const Message& event) {
  std::string length;
  append_raw(length, static_cast<std::uint64_t>(event.text().size()));
  file += length;
  append_raw(file, mask_crc(crc32c(length)));
  file += event.text();
  append_raw(file, mask_crc(crc32c(event.text())));
}

void append_scalar(std::string& file, double time, std::size_t step, const char* tag,
                   double value) {
  Message scalar;
  scalar.bytes(1, tag).fixed32(2, static_cast<float>(value));
  Message summary;
  summary.bytes(1, scalar.text());
  Message event;
  event.fixed64(1, time).varint_field(2, step).bytes(5, summary.text());
  append_event(file, event);
}

std::string event_file(const StoredRun& run) {
  const nlohmann::json& record = run.record;
  const std::vector<double> steps = step_seconds(record);
  const std::vector<double> ends = step_ends(run);
  const double units = units_per_step(run).value_or(0);
  const std::string speed = speed_metric(run);
  const nlohmann::json* losses = field(record, "series.loss");
  std::string file;
  Message version;
  append_event(
      file, version.fixed64(1, static_cast<double>(run.start_ms) / 1e3).bytes(3, "brain.Event:2"));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    append_scalar(file, ends[i], i + 1, "step_time_ms", steps[i] * 1e3);
    if (units > 0 && steps[i] > 0) {
      append_scalar(file, ends[i], i + 1, speed.c_str(), units / steps[i]);
    }
    if (losses != nullptr && i < losses->size() && (*losses)[i].is_number()) {
      append_scalar(file, ends[i], i + 1, "loss", (*losses)[i].get<double>());
    }
  }
  return file;
}

/// One folder per run, because TensorBoard distinguishes runs by folder.
Outputs write_tensorboard(std::span<const StoredRun> runs) {
  Outputs outputs;
  for (const StoredRun& run : runs) {
    const std::string host = word_of(text_field(run.record, "host.hostname", "localhost"));
    outputs.push_back({.name = fmt::format("{}-{}/events.out.tfevents.{}.{}", word_of(run.workload),
                                           run.record_id, run.start_ms / 1000, host),
                       .contents = event_file(run)});
  }
  return outputs;
}

}  // namespace

Format tensorboard_format() {
  return {.name = "tensorboard",
          .what = "TensorBoard events with the speed and loss of every step",
          .write = write_tensorboard};
}

}  // namespace bench::results
