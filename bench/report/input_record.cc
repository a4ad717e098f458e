#include "bench/report/input_record.h"

#include "bench/report/input_times.h"
#include "models/base/errors.h"

namespace bench {
namespace {

results::ThreadSeconds seconds_of(const ThreadTimes& times) {
  const auto seconds = [](std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
  };
  return {.work = seconds(times.work),
          .processor = seconds(times.processor),
          .delayed = seconds(times.delayed),
          .waited = seconds(times.waited)};
}

results::BadRecords bad_records_of(const BadRecordCounts& counts) {
  const auto count = [&](BadRecord reason) {
    return counts.by_reason.at(static_cast<std::size_t>(reason));
  };
  return {.file = count(BadRecord::file),
          .checksum = count(BadRecord::checksum),
          .fields = count(BadRecord::fields),
          .label = count(BadRecord::label),
          .image = count(BadRecord::image)};
}

/// The reading thread, with the processor time of all readers.
ThreadTimes reading_of(const InputStatistics& done) {
  ThreadTimes times = done.reading;
  times.processor += done.readers_work.processor;
  times.delayed += done.readers_work.delayed;
  return times;
}

Captured<std::int64_t> storage_bytes_of(const InputStatistics& done) {
  if (!done.storage_bytes) {
    return Unknown{"/proc/self/io has no read_bytes"};
  }
  return static_cast<std::int64_t>(*done.storage_bytes);
}

}  // namespace

void add_dataset(results::Dataset& dataset, const InputStatistics& input) {
  if (input.shards == 0) {
    const Unknown synthetic{"synthetic data are not read from a file"};
    dataset.shards = synthetic;
    dataset.records = synthetic;
    dataset.bytes = synthetic;
    return;
  }
  dataset.shards = input.shards;
  if (input.shard_bytes > 0) {
    dataset.bytes = static_cast<std::int64_t>(input.shard_bytes);
  } else {
    dataset.bytes = Unknown{"the sizes of JPEG files are not added up"};
  }
  if (input.records > 0) {
    dataset.records = input.records;
  } else {
    dataset.records = Unknown{"the records are counted only if all shards are read to the end"};
  }
}

std::optional<results::Input> input_record(const RunSettings& settings,
                                           const SessionResult& session) {
  const std::optional<InputInterval> interval = input_interval(settings, session);
  if (!interval) {
    return std::nullopt;
  }
  const InputStatistics& done = interval->done;
  const InputVerdict verdict = judge_input(*interval);
  return results::Input{.threads = done.threads,
                        .images = done.images_prepared,
                        .bytes = static_cast<std::int64_t>(done.record_bytes),
                        .storage_bytes = storage_bytes_of(done),
                        .readers = done.readers,
                        .seekable = done.seekable_images,
                        .bad_records = bad_records_of(done.bad_records),
                        .reading = seconds_of(reading_of(done)),
                        .preparing = seconds_of(done.preparing),
                        .parse = std::chrono::duration<double>(done.parse_busy).count(),
                        .decode = std::chrono::duration<double>(done.decode_busy).count(),
                        .resize = std::chrono::duration<double>(done.resize_busy).count(),
                        .bound = std::string(name_of(verdict.bound)),
                        .device_images_per_sec = verdict.device_images_per_second,
                        .input_images_per_sec = verdict.input_images_per_second};
}

}  // namespace bench
