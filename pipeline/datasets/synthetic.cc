#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "models/base/errors.h"
#include "models/base/philox.h"
#include "models/base/threads.h"
#include "pipeline/input.h"

namespace bench {
namespace {

constexpr float kMean = 127;
constexpr float kDeviation = 60;

/// Draws one row of pixels (width x channels values) into `drawn` and stores it in the layout. Each
/// row has its own random stream, so that any thread may draw it.
void fill_row(const InputSpec& spec, std::int64_t row, std::vector<float>& drawn, float* images) {
  RandomStream random(spec.seed ^ hash_name("synthetic images"),
                      static_cast<std::uint64_t>(spec.first_image * spec.height + row));
  drawn.resize(static_cast<std::size_t>(spec.width * spec.channels));
  random.truncated_normal(drawn);
  const std::int64_t image = row / spec.height;
  const std::int64_t y = row % spec.height;
  const bool nhwc = spec.layout == SlotLayout::nhwc;
  const std::int64_t column_step = nhwc ? spec.channels : 1;
  const std::int64_t channel_step = nhwc ? 1 : spec.height * spec.width;
  float* out =
      images + image * spec.channels * spec.height * spec.width + y * spec.width * column_step;
  const float* number = drawn.data();
  for (std::int64_t x = 0; x < spec.width; ++x) {
    for (std::int64_t c = 0; c < spec.channels; ++c, ++number) {
      out[x * column_step + c * channel_step] = kMean + kDeviation * *number;
    }
  }
}

void fill_images(const InputSpec& spec, float* images, const Watch& watch) {
  const std::int64_t rows = spec.batch * spec.height;
  constexpr std::int64_t kRowsPerThread = 64;
  const auto processors = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  const std::int64_t threads =
      std::clamp<std::int64_t>(rows / kRowsPerThread, 1, std::max<std::int64_t>(processors, 1));
  std::atomic<std::int64_t> next{0};
  const auto fill = [&](const Watch& between) {
    std::vector<float> drawn;
    for (std::int64_t row = next++; row < rows; row = next++) {
      tell(between, row, rows);
      fill_row(spec, row, drawn, images);
    }
  };
  std::vector<std::jthread> helpers;
  for (std::int64_t i = 1; i < threads; ++i) {
    helpers.push_back(start_thread([&fill] { fill(Watch()); }));
  }
  try {
    fill(watch);
  } catch (...) {
    next = rows;  // Stops the helper threads, too.
    throw;
  }
  tell(watch, rows, rows);
}

class SyntheticInput final : public InputSource {
 public:
  SyntheticInput(const InputSpec& spec, const std::shared_ptr<HostAllocator>& allocator,
                 const Watch& watch)
      : batch_(static_cast<std::size_t>(spec.batch)),
        first_(static_cast<std::size_t>(spec.first_image)),
        global_batch_(
            static_cast<std::size_t>(spec.global_batch > 0 ? spec.global_batch : spec.batch)),
        num_classes_(static_cast<std::uint32_t>(spec.num_classes)),
        images_(allocator,
                static_cast<std::size_t>(spec.batch * spec.channels * spec.height * spec.width)),
        labels_(allocator, batch_),
        drawn_(spec.start.index),
        random_(spec.seed ^ hash_name("synthetic labels")) {
    fill_images(spec, images_.data(), watch);
    constexpr std::int64_t kBetweenLooks = 1 << 20;
    for (std::int64_t i = 0; i < drawn_; ++i) {
      if (i % kBetweenLooks == 0) {
        tell(watch, spec.batch * spec.height, spec.batch * spec.height);  // may end the run
      }
      draw_label();
    }
  }

  InputBatch next() override {
    std::int32_t* labels = labels_.data();
    // Draw the labels of all processes, so that the number of processes does not change them.
    for (std::size_t i = 0; i < global_batch_; ++i) {
      const std::int32_t label = draw_label();
      if (i >= first_ && i - first_ < batch_) {
        labels[i - first_] = label;
      }
    }
    // Each batch contains every image.
    const std::int64_t epoch = statistics_.images_delivered / static_cast<std::int64_t>(batch_);
    statistics_.images_delivered += static_cast<std::int64_t>(batch_);
    drawn_ += static_cast<std::int64_t>(global_batch_);
    return {.images = images_.data(),
            .labels = labels,
            .content = content_,
            .epoch = epoch,
            .following = {.epoch = 0, .index = drawn_}};
  }

  [[nodiscard]] InputStatistics statistics() const override { return statistics_; }

 private:
  std::int32_t draw_label() { return static_cast<std::int32_t>(random_.below(num_classes_ - 1)); }

  std::size_t batch_;
  std::size_t first_;
  std::size_t global_batch_;
  std::uint32_t num_classes_;
  HostArray<float> images_;
  /// Identifies the images, which are drawn once.
  const ContentId content_ = ContentId::fresh();
  HostArray<std::int32_t> labels_;
  /// The labels of all processes that were drawn, also before the start.
  std::int64_t drawn_;
  RandomStream random_;
  InputStatistics statistics_;
};

}  // namespace

std::unique_ptr<InputSource> make_synthetic_input(const InputSpec& spec,
                                                  std::shared_ptr<HostAllocator> allocator,
                                                  const Watch& watch) {
  check(spec.type == SlotType::f32, "synthetic images must be f32");
  if (spec.batch <= 0 || spec.channels <= 0 || spec.height <= 0 || spec.width <= 0 ||
      spec.num_classes < 2) {
    throw UsageError(
        fmt::format("synthetic input: {} x {} x {} x {} with {} classes is not accepted; sizes "
                    "must be positive, with at least 2 classes",
                    spec.batch, spec.channels, spec.height, spec.width, spec.num_classes));
  }
  return std::make_unique<SyntheticInput>(
      spec, allocator != nullptr ? std::move(allocator) : make_host_allocator(), watch);
}

}  // namespace bench
