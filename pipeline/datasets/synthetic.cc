#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
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

/// Calls fill(row, buffer) for each row, on a thread per `rows_per_thread` rows, up to one per
/// processor. Each thread has its own buffer, empty at first.
template <class Fill>
void fill_rows(std::int64_t rows, std::int64_t rows_per_thread, const Watch& watch,
               const Fill& fill) {
  const auto processors = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  const std::int64_t threads =
      std::clamp<std::int64_t>(rows / rows_per_thread, 1, std::max<std::int64_t>(processors, 1));
  std::atomic<std::int64_t> next{0};
  const auto fill_some = [&](const Watch& between) {
    std::vector<float> drawn;
    for (std::int64_t row = next++; row < rows; row = next++) {
      tell(between, row, rows);
      fill(row, drawn);
    }
  };
  std::vector<std::jthread> helpers;
  for (std::int64_t i = 1; i < threads; ++i) {
    helpers.push_back(start_thread([&fill_some] { fill_some(Watch()); }));
  }
  try {
    fill_some(watch);
  } catch (...) {
    next = rows;  // Stops the helper threads, too.
    throw;
  }
  tell(watch, rows, rows);
}

void fill_images(const InputSpec& spec, float* images, const Watch& watch) {
  constexpr std::int64_t kRowsPerThread = 64;
  fill_rows(
      spec.batch * spec.height, kRowsPerThread, watch,
      [&](std::int64_t row, std::vector<float>& drawn) { fill_row(spec, row, drawn, images); });
}

/// The real numbers of one input, drawn once. Each example has its own random stream.
class KeptNumbers {
 public:
  KeptNumbers(const InputSpec& spec, const ExampleInput& input,
              const std::shared_ptr<HostAllocator>& allocator, const Watch& watch)
      : name_(input.name),
        per_example_(static_cast<std::size_t>(input.shape.elements())),
        values_(allocator, static_cast<std::size_t>(spec.batch) * per_example_) {
    const std::uint64_t seed = spec.seed ^ hash_name("synthetic " + input.name);
    fill_rows(spec.batch, 1, watch, [&](std::int64_t example, std::vector<float>& /*drawn*/) {
      RandomStream random(seed, static_cast<std::uint64_t>(spec.first_image + example));
      float* const begin = values_.data() + static_cast<std::size_t>(example) * per_example_;
      std::generate_n(begin, per_example_, [&] { return random.uniform(); });
    });
  }

  [[nodiscard]] BatchNumbers batch() const {
    return {.input = name_,
            .dtype = DType::f32,
            .values = values_.data(),
            .per_example = per_example_,
            .content = content_};
  }

 private:
  std::string name_;
  std::size_t per_example_;
  HostArray<float> values_;
  const ContentId content_ = ContentId::fresh();
};

/// The whole numbers of one input, drawn for each batch.
class DrawnNumbers {
 public:
  DrawnNumbers(const InputSpec& spec, const ExampleInput& input,
               const std::shared_ptr<HostAllocator>& allocator)
      : name_(input.name),
        per_example_(static_cast<std::size_t>(input.shape.elements())),
        least_(static_cast<std::int32_t>(input.least)),
        range_(static_cast<std::uint32_t>(input.bound - input.least)),
        places_(static_cast<std::uint32_t>(std::lround(range_ / input.share))),
        first_(static_cast<std::size_t>(spec.first_image) * per_example_),
        count_(static_cast<std::size_t>(spec.batch) * per_example_),
        values_(allocator, count_),
        random_(spec.seed ^ hash_name("synthetic " + input.name)) {}

  /// Skips the numbers of these examples; calls `between` every 2^20 numbers.
  template <class Between>
  void skip(std::int64_t examples, const Between& between) {
    constexpr std::int64_t kBetweenLooks = 1 << 20;
    const std::int64_t count = examples * static_cast<std::int64_t>(per_example_);
    for (std::int64_t i = 0; i < count; ++i) {
      if (i % kBetweenLooks == 0) {
        between();
      }
      draw();
    }
  }

  /// Draws the numbers of all processes, so that the number of processes does not change them.
  void draw_batch(std::size_t examples) {
    for (std::size_t i = 0; i < examples * per_example_; ++i) {
      const std::int32_t number = draw();
      if (i >= first_ && i - first_ < count_) {
        values_.data()[i - first_] = number;
      }
    }
  }

  [[nodiscard]] BatchNumbers batch() const {
    return {.input = name_, .values = values_.data(), .per_example = per_example_};
  }
  [[nodiscard]] const std::int32_t* values() const { return values_.data(); }

 private:
  std::int32_t draw() {
    const std::uint32_t place = random_.below(places_);
    return place < range_ ? least_ + static_cast<std::int32_t>(place) : 0;
  }

  std::string name_;
  std::size_t per_example_;
  std::int32_t least_;
  std::uint32_t range_;
  /// The range, and as many places for zeros as its share leaves.
  std::uint32_t places_;
  std::size_t first_;
  std::size_t count_;
  HostArray<std::int32_t> values_;
  RandomStream random_;
};

/// True if examples have an image. With other numbers, they have one only if the spec has a size.
bool reads_images(const InputSpec& spec) { return spec.numbers.empty() || spec.height > 0; }

class SyntheticInput final : public InputSource {
 public:
  SyntheticInput(const InputSpec& spec, const std::shared_ptr<HostAllocator>& allocator,
                 const Watch& watch)
      : has_images_(reads_images(spec)),
        batch_(spec.batch),
        global_batch_(spec.images_of_all()),
        images_(allocator,
                static_cast<std::size_t>(spec.batch * spec.channels * spec.height * spec.width)),
        drawn_(spec.start.index) {
    std::int64_t rows = 0;
    if (has_images_) {
      rows = spec.batch * spec.height;
      fill_images(spec, images_.data(), watch);
    }
    if (spec.numbers.empty()) {
      drawn_numbers_.emplace_back(
          spec, ExampleInput{.name = "labels", .bound = spec.num_classes - 1}, allocator);
      labels_ = drawn_numbers_.back().values();
    }
    for (const ExampleInput& input : spec.numbers) {
      if (input.dtype == DType::s32) {
        drawn_numbers_.emplace_back(spec, input, allocator);
        batch_numbers_.push_back(drawn_numbers_.back().batch());
      } else {
        kept_numbers_.emplace_back(spec, input, allocator, watch);
        batch_numbers_.push_back(kept_numbers_.back().batch());
      }
    }
    for (DrawnNumbers& each : drawn_numbers_) {
      each.skip(drawn_, [&] { tell(watch, rows, rows); });  // may end the run
    }
  }

  InputBatch next() override {
    for (DrawnNumbers& each : drawn_numbers_) {
      each.draw_batch(static_cast<std::size_t>(global_batch_));
    }
    // Each batch contains every image.
    const std::int64_t epoch = statistics_.images_delivered / batch_;
    statistics_.images_delivered += batch_;
    drawn_ += global_batch_;
    return {.images = has_images_ ? images_.data() : nullptr,
            .labels = labels_,
            .numbers = batch_numbers_,
            .content = content_,
            .epoch = epoch,
            .following = {.epoch = 0, .index = drawn_}};
  }

  [[nodiscard]] InputStatistics statistics() const override { return statistics_; }

 private:
  bool has_images_;
  std::int64_t batch_;
  std::int64_t global_batch_;
  HostArray<float> images_;
  /// Identifies the images, which are drawn once.
  const ContentId content_ = ContentId::fresh();
  /// Their addresses are in `batch_numbers_`.
  std::deque<DrawnNumbers> drawn_numbers_;
  std::deque<KeptNumbers> kept_numbers_;
  /// Null if the spec has other numbers.
  const std::int32_t* labels_ = nullptr;
  std::vector<BatchNumbers> batch_numbers_;
  /// The examples of all processes that were drawn, also before the start.
  std::int64_t drawn_;
  InputStatistics statistics_;
};

}  // namespace

std::unique_ptr<InputSource> make_synthetic_input(const InputSpec& spec,
                                                  std::shared_ptr<HostAllocator> allocator,
                                                  const Watch& watch) {
  check(spec.type == SlotType::f32, "synthetic images must be f32");
  const auto invalid = [](const ExampleInput& input) {
    return input.dtype == DType::s32
               ? input.bound <= input.least || input.share < 1e-3 || input.share > 1
               : input.dtype != DType::f32;
  };
  check(std::ranges::none_of(spec.numbers, invalid),
        "synthetic numbers must be f32, or s32 with a range and a share from 0.001 to 1");
  const bool images = reads_images(spec);
  if (spec.batch <= 0 || (images && (spec.channels <= 0 || spec.height <= 0 || spec.width <= 0)) ||
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
