#include "bench/input/measure.h"

#include <algorithm>
#include <memory>
#include <sstream>
#include <utility>

#include <nlohmann/json.hpp>

#include "bench/terminal/text_table.h"
#include "models/base/crc32c.h"
#include "models/base/errors.h"
#include "results/record/statistics.h"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// Takes batches until `end`. Returns false if `is_ended` was true before.
bool take_batches(InputSource& input, Clock::time_point end,
                  const std::function<bool()>& is_ended) {
  do {
    input.next();
    input.release();
    if (is_ended()) return false;
  } while (Clock::now() < end);
  return true;
}

double bytes_per_image(const InputStatistics& done) {
  return static_cast<double>(done.record_bytes) /
         static_cast<double>(std::max<std::int64_t>(done.images_prepared, 1));
}

double per_image(std::chrono::nanoseconds time, const InputResult& result) {
  constexpr double kMicro = 1e6;
  return kMicro * seconds(time) /
         static_cast<double>(std::max<std::int64_t>(result.all.done.images_prepared, 1));
}

std::unique_ptr<InputSource> open_input(const InputOptions& options, int threads) {
  DatasetOptions pipeline = options.pipeline;
  pipeline.num_threads = threads;
  // Labels do not matter here, and ImageNet's formats may hold other datasets.
  const bool any = options.dataset->name == std::string_view("imagenet");
  const auto classes = static_cast<std::int32_t>(any ? kMostClasses : options.dataset->num_classes);
  return make_dataset_input(*options.dataset,
                            {.batch = options.batch,
                             .channels = options.dataset->channels,
                             .height = options.image_size,
                             .width = options.image_size,
                             .layout = SlotLayout::nhwc,
                             .type = options.type,
                             .num_classes = classes},
                            pipeline);
}

}  // namespace

std::uint32_t checksum_of_batches(const InputOptions& options, int threads) {
  const auto input = open_input(options, threads);
  const auto images = static_cast<std::size_t>(options.batch);
  const std::size_t elements =
      images *
      static_cast<std::size_t>(options.dataset->channels * options.image_size * options.image_size);
  std::string checksums;
  const auto add = [&](const auto* values, std::size_t count) {
    const std::uint32_t checksum =
        crc32c({reinterpret_cast<const char*>(values), count * sizeof(*values)});
    checksums.append(reinterpret_cast<const char*>(&checksum), sizeof(checksum));
  };
  for (int i = 0; i < options.checked_batches; ++i) {
    const InputBatch batch = input->next();
    batch.images != nullptr ? add(batch.images, elements) : add(batch.pixels, elements);
    add(batch.labels, images);
  }
  return crc32c(checksums);
}

double InputResult::median() const { return results::median(images_per_second); }

InputResult measure_input(const InputOptions& options, int threads, int processors,
                          const std::function<void(int repeat)>& tell,
                          const std::function<bool()>& is_ended) {
  const auto input = open_input(options, threads);
  const auto length =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.seconds));
  input->next();  // The shuffle buffer is full.
  InputResult result{.threads = threads};
  result.all.processors = processors;
  if (!take_batches(*input, Clock::now() + length, is_ended)) return result;
  const InputStatistics before = input->statistics();
  const Clock::time_point begin = Clock::now();
  Clock::time_point last = begin;
  InputStatistics at_last = before;
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    tell(repeat);
    if (!take_batches(*input, last + length, is_ended)) break;
    const Clock::time_point now = Clock::now();
    const InputStatistics at_now = input->statistics();
    const std::int64_t images = at_now.images_delivered - at_last.images_delivered;
    result.images_per_second.push_back(static_cast<double>(images) / seconds(now - last));
    at_last = at_now;
    last = now;
  }
  result.all.done = at_last.since(before);
  result.all.images = result.all.done.images_delivered;
  result.all.wall = last - begin;
  result.all.waited = result.all.done.consumer_wait;
  return result;
}

std::string input_table(const InputOptions& options, std::span<const InputResult> results) {
  std::ostringstream out;
  const InputStatistics& first = results.front().all.done;
  const double seekable = first.seekable_share();
  out << fmt::format("{} {} images from {} file{}, {:.1f} KB per record{}, as {} x {} {}\n",
                     options.dataset->name, options.pipeline.training ? "training" : "validation",
                     first.shards, first.shards == 1 ? "" : "s", bytes_per_image(first) / 1e3,
                     seekable > 0 ? fmt::format(", {:.0f} % seekable", 100 * seekable) : "",
                     options.image_size, options.image_size,
                     options.type == SlotType::u8 ? "u8" : "f32");
  const auto count = [](const InputResult& result) { return result.images_per_second.size(); };
  const auto [fewest, most] = std::ranges::minmax(results, {}, count);
  const std::string counts = count(fewest) == count(most)
                                 ? fmt::format("{}", count(most))
                                 : fmt::format("{} to {}", count(fewest), count(most));
  out << fmt::format("medians of {} measurement{} of {:g} s; processor time in us per image\n",
                     counts, count(most) == 1 ? "" : "s", options.seconds);
  std::vector<TextTable::Column> columns;
  for (const char* const title : {"threads", "images/sec", "lowest", "highest", "per thread",
                                  "scaling", "MB/s", "read", "parse", "decode", "resize", "busy"}) {
    columns.push_back({.title = title, .right = true});
  }
  TextTable table(std::move(columns));
  for (const InputResult& result : results) {
    const InputStatistics& done = result.all.done;
    const auto [lowest, highest] =
        std::minmax_element(result.images_per_second.begin(), result.images_per_second.end());
    const double each = result.median() / result.threads;
    const double base = results.front().median() / results.front().threads;
    table.add_row(
        {fmt::format("{}", result.threads), fmt::format("{:.0f}", result.median()),
         fmt::format("{:.0f}", *lowest), fmt::format("{:.0f}", *highest),
         fmt::format("{:.0f}", each), fmt::format("{:.0f} %", 100 * each / base),
         fmt::format("{:.1f}", result.median() * bytes_per_image(done) / 1e6),
         fmt::format("{:.1f}",
                     per_image(done.reading.processor + done.readers_work.processor, result)),
         fmt::format("{:.1f}", per_image(done.parse_busy, result)),
         fmt::format("{:.1f}", per_image(done.decode_busy, result)),
         fmt::format("{:.1f}", per_image(done.resize_busy, result)),
         fmt::format("{:.0f} %", 100 * judge_input(result.all).preparing_busy)});
  }
  out << table;
  return out.str();
}

std::string input_json(const InputOptions& options, std::span<const InputResult> results) {
  nlohmann::ordered_json json{{"program", "bench_input"},
                              {"schema_version", 1},
                              {"data_dir", options.pipeline.data_dir},
                              {"dataset", options.dataset->name},
                              {"subset", options.pipeline.training ? "training" : "validation"},
                              {"image_size", options.image_size},
                              {"batch_size", options.batch},
                              {"output", options.type == SlotType::u8 ? "u8" : "f32"},
                              {"stage", name_of(options.pipeline.last_stage)},
                              {"resize_method", name_of(options.pipeline.resize_method)},
                              {"shuffle_buffer", options.pipeline.shuffle_buffer},
                              {"caching", options.pipeline.use_caching},
                              {"fused", options.pipeline.fuse_decode_and_crop},
                              {"jpeg_dct", options.pipeline.accurate_dct ? "accurate" : "original"},
                              {"seconds", options.seconds}};
  auto& list = json["results"] = nlohmann::ordered_json::array();
  for (const InputResult& result : results) {
    const InputStatistics& done = result.all.done;
    list.push_back({{"threads", result.threads},
                    {"readers", done.readers},
                    {"images_per_second", result.images_per_second},
                    {"median", result.median()},
                    {"images", done.images_prepared},
                    {"bytes", done.record_bytes},
                    {"seekable", done.seekable_images},
                    {"read_seconds", seconds(done.reading.processor + done.readers_work.processor)},
                    {"parse_seconds", seconds(done.parse_busy)},
                    {"decode_seconds", seconds(done.decode_busy)},
                    {"resize_seconds", seconds(done.resize_busy)},
                    {"bound", name_of(judge_input(result.all).bound)}});
  }
  return json.dump(1) + "\n";
}

}  // namespace bench
