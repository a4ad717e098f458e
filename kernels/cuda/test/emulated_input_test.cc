// Batches that arrive on a device while its kernels still read the previous ones.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/executor.h"
#include "kernels/forwarding_backend.h"
#include "kernels/gpu_emulator/libraries/emulated_backend.h"
#include "kernels/gpu_emulator/runtime.h"
#include "kernels/runtime/input_landing.h"
#include "models/ops/activation.h"

namespace bench {
namespace {

constexpr std::int64_t kElements = 40;
constexpr int kSteps = 8;
constexpr std::uint64_t kSeeds = 24;

/// y = relu(x).
Graph copying_graph() {
  Graph graph;
  const ValueId x = graph.add_input("x", {.dtype = DType::f32, .shape = {2, kElements / 2}});
  const ValueId y =
      graph.add_node(kActivation, "y", ActivationAttributes{ActivationKind::relu}, {x})[0];
  graph.set_output("y", y);
  return graph;
}

/// A stream that can omit its waits for other streams.
class CarelessStream final : public Stream {
 public:
  CarelessStream(std::unique_ptr<Stream> inner, bool waits)
      : inner_(std::move(inner)), waits_(waits) {}
  void synchronize() override { inner_->synchronize(); }
  void record(Event& event) override { inner_->record(event); }
  void wait(Event& event) override {
    if (waits_) {
      inner_->wait(event);
    }
  }
  void upload(std::span<const std::byte> from, void* to) override { inner_->upload(from, to); }
  void download(const void* from, std::span<std::byte> to) override { inner_->download(from, to); }
  void copy(const void* from, void* to, std::size_t bytes) override {
    inner_->copy(from, to, bytes);
  }
  void fill(void* to, std::byte value, std::size_t bytes) override {
    inner_->fill(to, value, bytes);
  }
  std::unique_ptr<Recording> capture(std::function<void()> enqueue) override {
    return inner_->capture(std::move(enqueue));
  }
  void replay(Recording& recording) override { inner_->replay(recording); }

 private:
  std::unique_ptr<Stream> inner_;
  bool waits_;
};

class CarelessBackend final : public ForwardingBackend {
 public:
  CarelessBackend(Backend& inner, bool waits) : ForwardingBackend(inner), waits_(waits) {}
  std::unique_ptr<Stream> make_stream() override {
    return std::make_unique<CarelessStream>(ForwardingBackend::make_stream(), waits_);
  }
  std::unique_ptr<Stream> make_urgent_stream() override { return make_stream(); }

 private:
  bool waits_;
};

std::vector<float> batch_of(int step) {
  std::vector<float> batch(kElements);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    batch[i] = static_cast<float>(100 * (step + 1)) + static_cast<float>(i);
  }
  return batch;
}

/// Host memory that copies read and write.
class Pinned {
 public:
  Pinned(Backend& backend, int batches)
      : memory_(backend.allocate_staging(static_cast<std::size_t>(batches) * kBytes)) {}
  [[nodiscard]] std::span<float> batch(int index) const {
    return {reinterpret_cast<float*>(memory_->data()) + index * kElements, kElements};
  }
  [[nodiscard]] std::span<std::byte> bytes(int index) const {
    return std::as_writable_bytes(batch(index));
  }
  void set(int index, const std::vector<float>& values) const {
    std::copy(values.begin(), values.end(), batch(index).begin());
  }

  static constexpr std::size_t kBytes = kElements * sizeof(float);

 private:
  std::unique_ptr<DeviceMemory> memory_;
};

/// Which side waits for the other.
struct Waits {
  bool copies_for_kernels = true;
  bool kernels_for_copies = true;
};

/// Brings batches that only the landing keeps apart, and fetches each kernel's result. Returns true
/// if every kernel found its batch.
bool each_kernel_finds_its_batch(std::uint64_t seed, const Waits& waits) {
  const auto backend = cuda::make_emulated_backend();
  cuda::emulator::set_schedule(seed);
  const Plan plan(copying_graph(), *backend, {});
  CarelessBackend copying(*backend, waits.copies_for_kernels);
  CarelessStream kernels(backend->make_stream(), waits.kernels_for_copies);
  const Pinned given(*backend, kSteps);
  const Pinned found(*backend, kSteps);
  const auto place = backend->allocate(Pinned::kBytes);
  {
    const std::size_t buffer = plan.lowered.buffer_of[at(plan.graph.inputs()[0])];
    InputLanding landing(plan, copying, kernels);
    for (int step = 0; step < kSteps; ++step) {
      given.set(step, batch_of(step));
      landing.bring(buffer, given.bytes(step), {.data = place->data(), .bytes = Pinned::kBytes});
      kernels.download(place->data(), found.bytes(step));
    }
    kernels.synchronize();
  }
  cuda::emulator::set_schedule(0);
  bool right = true;
  for (int step = 0; step < kSteps; ++step) {
    const std::span<float> batch = found.batch(step);
    right = right && std::vector(batch.begin(), batch.end()) == batch_of(step);
  }
  return right;
}

/// The number of schedules under which a kernel found another batch.
int wrong_schedules(const Waits& waits) {
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    wrong += each_kernel_finds_its_batch(seed, waits) ? 0 : 1;
  }
  return wrong;
}

TEST(EmulatedInput, EachKernelReadsItsBatchInAnySchedule) { EXPECT_EQ(wrong_schedules({}), 0); }

TEST(EmulatedInput, APlaceThatIsWrittenTooEarlyIsSeen) {
  EXPECT_GT(wrong_schedules({.copies_for_kernels = false}), 0);
}

TEST(EmulatedInput, AKernelThatDoesNotWaitForItsBatchIsSeen) {
  EXPECT_GT(wrong_schedules({.kernels_for_copies = false}), 0);
}

/// Steps of an executor, each with the next batch in flight. As with loaders, two host buffers are
/// filled in turns.
void run_ahead(bool recorded) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto backend = cuda::make_emulated_backend();
    cuda::emulator::set_schedule(seed);
    {
      const Pinned slots(*backend, 2);
      Executor executor(copying_graph(), *backend, {});
      const Executor::Input input = executor.input("x");
      const auto feed = [&](int step) {
        slots.set(step % 2, batch_of(step));
        executor.feed(input, slots.bytes(step % 2));
      };
      feed(0);
      executor.stream().synchronize();
      const auto recording =
          recorded ? executor.stream().capture([&] { executor.enqueue(); }) : nullptr;
      for (int step = 0; step < kSteps; ++step) {
        if (recorded) {
          executor.stream().replay(*recording);
        } else {
          executor.enqueue();
        }
        feed(step + 1);
        executor.stream().synchronize();
        EXPECT_EQ(executor.read_output_as_floats("y"), batch_of(step)) << "seed " << seed;
      }
    }
    cuda::emulator::set_schedule(0);
  }
}

/// y = relu(images).
Graph image_graph() {
  Graph graph;
  const ValueId x = graph.add_input("images", {.dtype = DType::f32, .shape = {1, 2, 4, 5}});
  graph.set_output(
      "y", graph.add_node(kActivation, "y", ActivationAttributes{ActivationKind::relu}, {x})[0]);
  return graph;
}

/// The same as run_ahead(), with pixels that the device normalises: each step has another grey
/// level.
void run_pixels_ahead(bool recorded) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto backend = cuda::make_emulated_backend();
    cuda::emulator::set_schedule(seed);
    {
      const auto slots = backend->allocate_staging(2 * kElements);
      Executor executor(image_graph(), *backend, {.pixels = "images"});
      const Executor::Input input = executor.input("images");
      const auto grey = [](int step) { return static_cast<std::uint8_t>(200 + step); };
      const auto feed = [&](int step) {
        auto* const slot = reinterpret_cast<std::uint8_t*>(slots->data()) + step % 2 * kElements;
        std::fill_n(slot, kElements, grey(step));
        executor.feed_pixels(input, std::span(slot, kElements));
      };
      feed(0);
      executor.stream().synchronize();
      if (recorded) {
        executor.record();
      }
      for (int step = 0; step < kSteps; ++step) {
        if (recorded) {
          executor.enqueue_recorded();
        } else {
          executor.enqueue();
        }
        feed(step + 1);
        executor.stream().synchronize();
        const float value = (static_cast<float>(grey(step)) - 127.5F) / 127.5F;
        EXPECT_EQ(executor.read_output_as_floats("y"), std::vector<float>(kElements, value))
            << "seed " << seed;
      }
    }
    cuda::emulator::set_schedule(0);
  }
}

enum class Given : std::uint8_t { floats, pixels };

/// Two host buffers, each filled with one number, and the result of a step on them.
class Slots {
 public:
  Slots(Backend& backend, Given given)
      : given_(given), memory_(backend.allocate_staging(2 * Pinned::kBytes)) {}

  void set(int slot, int number) {
    if (given_ == Given::pixels) {
      std::fill_n(pixels(slot), kElements, static_cast<std::uint8_t>(kGrey + number));
    } else {
      std::fill_n(reinterpret_cast<float*>(place(slot)), kElements, value(number));
    }
  }
  void feed(Executor& executor, int slot, const ContentId& content) {
    const Executor::Input input = executor.input("images");
    if (given_ == Given::pixels) {
      executor.feed_pixels(input, std::span(pixels(slot), kElements), content);
    } else {
      executor.feed(input, std::span(place(slot), Pinned::kBytes), content);
    }
  }
  [[nodiscard]] std::vector<float> images(int number) const {
    return std::vector<float>(kElements, value(number));
  }

 private:
  static constexpr int kGrey = 200;

  [[nodiscard]] std::byte* place(int slot) const {
    return memory_->data() + static_cast<std::size_t>(slot) * Pinned::kBytes;
  }
  [[nodiscard]] std::uint8_t* pixels(int slot) const {
    return reinterpret_cast<std::uint8_t*>(place(slot));
  }
  [[nodiscard]] static float value(int number) {
    return (static_cast<float>(kGrey + number) - 127.5F) / 127.5F;
  }

  Given given_;
  std::unique_ptr<DeviceMemory> memory_;
};

/// Steps on content with a known id; the host memory need not hold it any more.
void run_on_told_content(Given given, bool recorded) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto backend = cuda::make_emulated_backend();
    cuda::emulator::set_schedule(seed);
    {
      Slots slots(*backend, given);
      Executor executor(image_graph(), *backend, {});
      const ContentId first = ContentId::fresh();
      slots.set(0, 1);
      slots.feed(executor, 0, first);
      executor.stream().synchronize();
      if (recorded) {
        executor.record();
      }
      const auto step = [&] { recorded ? executor.enqueue_recorded() : executor.enqueue(); };
      const auto expect = [&](int number, const char* why) {
        step();
        executor.stream().synchronize();
        EXPECT_EQ(executor.read_output_as_floats("y"), slots.images(number))
            << why << ", seed " << seed;
      };
      for (int ahead = 0; ahead < 3; ++ahead) {
        step();
        slots.feed(executor, 0, first);
      }
      expect(1, "fed ahead");
      slots.set(0, 2);
      slots.feed(executor, 0, first);
      expect(1, "the same content is not read again");

      const ContentId second = ContentId::fresh();
      slots.feed(executor, 0, second);
      expect(2, "fresh content");
      step();
      slots.set(1, 3);
      slots.feed(executor, 1, second);
      step();
      slots.feed(executor, 1, second);
      expect(3, "the same content of another place");
      slots.feed(executor, 0, second);
      expect(2, "of the place before");

      slots.set(1, 4);
      slots.feed(executor, 1, {});
      expect(4, "content that has no name");
      slots.set(1, 5);
      slots.feed(executor, 1, {});
      expect(5, "it changes");
      slots.feed(executor, 0, second);
      expect(2, "it was overwritten by that");

      const std::vector<float> other = slots.images(6);
      executor.write_input("images", std::as_bytes(std::span(other)));
      expect(6, "written by another way");
      slots.feed(executor, 0, second);
      expect(2, "it was overwritten by that");
    }
    cuda::emulator::set_schedule(0);
  }
}

TEST(EmulatedInput, IsNotCopiedAgainIfItsContentIsTheSame) {
  for (const Given given : {Given::floats, Given::pixels}) {
    run_on_told_content(given, /*recorded=*/false);
    run_on_told_content(given, /*recorded=*/true);
  }
}

TEST(EmulatedInput, ArrivesAsPixelsWhileAStepRuns) { run_pixels_ahead(false); }

TEST(EmulatedInput, ArrivesAsPixelsWhileARecordingIsReplayed) { run_pixels_ahead(true); }

TEST(EmulatedInput, ArrivesWhileAStepRuns) { run_ahead(false); }

TEST(EmulatedInput, ArrivesWhileARecordingIsReplayed) { run_ahead(true); }

}  // namespace
}  // namespace bench
