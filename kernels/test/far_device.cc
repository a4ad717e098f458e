#include "kernels/test/far_device.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>

#include "kernels/forwarding_backend.h"
#include "kernels/runtime/memory_plan.h"
#include "kernels/test/far_parts.h"
#include "models/base/errors.h"

namespace bench {
namespace {

constexpr std::size_t kPageBytes = 4096;

class FarEvent final : public Event {
 public:
  FarEvent(class Device& device) : device_(device) {}  // NOLINT(*-explicit-*)
  bool done() override;
  bool wait(const Patience& patience) override;
  [[nodiscard]] std::chrono::nanoseconds since(const Event& earlier) const override {
    return time_ - static_cast<const FarEvent&>(earlier).time_;
  }

  std::int64_t record() { return ++recorded_; }
  void reach(std::int64_t number) {
    reached_ = std::max(reached_, number);
    time_ = std::chrono::steady_clock::now().time_since_epoch();
  }
  [[nodiscard]] std::int64_t recorded() const { return recorded_; }
  [[nodiscard]] bool reached(std::int64_t number) const { return reached_ >= number; }

 private:
  Device& device_;
  std::int64_t recorded_ = 0;
  std::int64_t reached_ = 0;
  std::chrono::nanoseconds time_{};
};

/// What a stream has to do next; it waits for an event's number before, if there is one.
struct Operation {
  std::function<void()> run;
  FarEvent* behind = nullptr;
  std::int64_t number = 0;

  [[nodiscard]] bool ready() const { return behind == nullptr || behind->reached(number); }
};

using Queue = std::deque<Operation>;

/// What all streams share: the schedule and the thread that works.
class Device {
 public:
  Device(Backend& inner, const FarSchedule& schedule)
      : stream_(inner.make_stream()), schedule_(schedule), random_(schedule.seed) {}

  AddressBook& addresses() { return addresses_; }
  [[nodiscard]] std::size_t free_bytes() const { return schedule_.memory_bytes - taken_; }
  /// Throws DeviceError when there is not so much.
  void take_memory(std::size_t bytes) {
    if (bytes > free_bytes()) {
      throw DeviceError(
          cat("far device: ", bytes, " bytes are asked for, ", free_bytes(), " are free"));
    }
    taken_ += bytes;
  }
  void give_memory(std::size_t bytes) { taken_ -= bytes; }
  Stream& inner_stream() { return *stream_; }
  void add(Queue& queue) { queues_.push_back(&queue); }
  void remove(Queue& queue) { std::erase(queues_, &queue); }

  /// What the schedule does at once of all that is enqueued.
  void after_enqueue() {
    const std::uint64_t most = schedule_.kind == FarSchedule::Kind::eager    ? ~std::uint64_t{0}
                               : schedule_.kind == FarSchedule::Kind::random ? random_() % 3
                                                                             : 0;
    if (most > 0) {
      worker_.run([&] {
        for (std::uint64_t i = 0; i < most && run_one(); ++i) {
        }
      });
    }
  }
  /// Works until `reached`; false when the patience ended first.
  bool run_until(const std::function<bool()>& reached, const Patience& patience) {
    bool patient = true;
    ++waits_;
    worker_.run([&] {
      while (patient && !reached()) {
        patient = !(patience.cancelled && patience.cancelled()) &&
                  std::chrono::steady_clock::now() <= patience.deadline;
        check(!patient || run_one(), "far device: the streams wait for each other");
      }
    });
    return patient;
  }
  [[nodiscard]] std::int64_t waits() const { return waits_; }
  void count_upload(std::size_t bytes) { uploaded_ += bytes; }
  [[nodiscard]] std::size_t uploaded() const { return uploaded_; }
  /// Lets the device go on by one operation.
  void run_a_bit() {
    worker_.run([&] { run_one(); });
  }

 private:
  /// Runs the next operation of a stream that can go on; false when there is none.
  bool run_one() {
    std::vector<Queue*> able;
    std::copy_if(queues_.begin(), queues_.end(), std::back_inserter(able),
                 [](const Queue* queue) { return !queue->empty() && queue->front().ready(); });
    if (able.empty()) {
      return false;
    }
    Queue& queue = *able[schedule_.kind == FarSchedule::Kind::random ? random_() % able.size() : 0];
    const Operation operation = std::move(queue.front());
    queue.pop_front();
    operation.run();
    return true;
  }

  std::unique_ptr<Stream> stream_;
  FarSchedule schedule_;
  std::mt19937_64 random_;
  AddressBook addresses_;
  std::size_t taken_ = 0;
  std::vector<Queue*> queues_;
  std::int64_t waits_ = 0;
  std::size_t uploaded_ = 0;
  Worker worker_;
};

bool FarEvent::done() {
  if (!reached(recorded_)) {
    device_.run_a_bit();  // Whoever asks again and again lets the device go on.
  }
  return reached(recorded_);
}

bool FarEvent::wait(const Patience& patience) {
  return device_.run_until([this] { return reached(recorded_); }, patience);
}

class FarMemory final : public DeviceMemory {
 public:
  FarMemory(Device& device, std::size_t bytes)
      : device_(device), asked_(bytes), bytes_(align_up(bytes + 1, kPageBytes)) {
    device_.take_memory(bytes);
    address_ = map(PROT_NONE);
    memory_ = map(PROT_READ | PROT_WRITE);
    device_.addresses().add(address_, memory_, bytes);
  }
  ~FarMemory() override {
    device_.addresses().remove(address_);
    device_.give_memory(asked_);
    munmap(address_, bytes_);
    munmap(memory_, bytes_);
  }
  [[nodiscard]] std::byte* data() const override { return address_; }

 private:
  [[nodiscard]] std::byte* map(int protection) const {
    void* memory = mmap(nullptr, bytes_, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(memory != MAP_FAILED, "far device: no memory");
    return static_cast<std::byte*>(memory);
  }

  Device& device_;
  std::size_t asked_;
  std::size_t bytes_;
  std::byte* address_ = nullptr;
  std::byte* memory_ = nullptr;
};

class FarRecording final : public Recording {
 public:
  Queue operations;
};

class FarStream final : public Stream {
 public:
  explicit FarStream(Device& device) : device_(device) { device_.add(queue_); }
  /// Work that is still to be done goes with the stream, to memory that may be gone: a fault.
  ~FarStream() override {
    if (!queue_.empty()) {
      std::fputs("far device: a stream ended before its work\n", stderr);
      std::abort();
    }
    device_.remove(queue_);
  }

  void synchronize() override {
    check(recording_ == nullptr, "far device: a recording waits for nothing");
    device_.run_until([this] { return queue_.empty(); }, {});
  }
  void record(Event& event) override {
    auto& mark = static_cast<FarEvent&>(event);
    enqueue([&mark, number = mark.record()] { mark.reach(number); });
  }
  void wait(Event& event) override {
    auto& mark = static_cast<FarEvent&>(event);
    push({.run = [] {}, .behind = &mark, .number = mark.recorded()});
  }
  void upload(std::span<const std::byte> from, void* to) override {
    if (!from.empty()) {
      check_ours(to, from.size());
      enqueue([this, from, to] {
        inner().upload(from, find(to, from.size()));
        device_.count_upload(from.size());
      });
    }
  }
  void download(const void* from, std::span<std::byte> to) override {
    if (!to.empty()) {
      check_ours(from, to.size());
      enqueue([this, from, to] { inner().download(find(from, to.size()), to); });
    }
  }
  void copy(const void* from, void* to, std::size_t bytes) override {
    check_ours(from, bytes);
    check_ours(to, bytes);
    enqueue([this, from, to, bytes] { inner().copy(find(from, bytes), find(to, bytes), bytes); });
  }
  void fill(void* to, std::byte value, std::size_t bytes) override {
    check_ours(to, bytes);
    enqueue([this, to, value, bytes] { inner().fill(find(to, bytes), value, bytes); });
  }
  std::unique_ptr<Recording> capture(std::function<void()> enqueue) override {
    auto recording = std::make_unique<FarRecording>();
    recording_ = recording.get();
    enqueue();
    recording_ = nullptr;
    return recording;
  }
  void replay(Recording& recording) override {
    for (const Operation& operation : static_cast<FarRecording&>(recording).operations) {
      push(operation);
    }
  }

  void enqueue(std::function<void()> work) { push({.run = std::move(work)}); }
  /// Throws InternalError unless the memory is the device's.
  void check_ours(const void* address, std::size_t bytes) const { (void)find(address, bytes); }

 private:
  void push(Operation operation) {
    if (recording_ != nullptr) {
      recording_->operations.push_back(std::move(operation));
      return;
    }
    queue_.push_back(std::move(operation));
    device_.after_enqueue();
  }
  Stream& inner() { return device_.inner_stream(); }
  [[nodiscard]] std::byte* find(const void* address, std::size_t bytes) const {
    return device_.addresses().find(address, bytes);
  }

  Device& device_;
  Queue queue_;
  FarRecording* recording_ = nullptr;
};

class FarKernel final : public Kernel {
 public:
  FarKernel(Device& device, std::unique_ptr<Kernel> inner, std::size_t workspace_bytes)
      : device_(device), inner_(std::move(inner)), workspace_bytes_(workspace_bytes) {}

  void launch(Stream& stream, std::span<const TensorView> inputs,
              std::span<const TensorView> outputs, void* workspace) override {
    for (const auto views : {inputs, outputs}) {
      for (const TensorView& view : views) {
        (void)device_.addresses().find(view);
      }
    }
    static_cast<FarStream&>(stream).enqueue(
        [this, reads = std::vector(inputs.begin(), inputs.end()),
         writes = std::vector(outputs.begin(), outputs.end()), workspace] {
          const auto theirs = [this](std::vector<TensorView> views) {
            std::transform(views.begin(), views.end(), views.begin(),
                           [this](const auto& view) { return device_.addresses().find(view); });
            return views;
          };
          void* const scratch = workspace_bytes_ == 0
                                    ? nullptr
                                    : device_.addresses().find(workspace, workspace_bytes_);
          inner_->launch(device_.inner_stream(), theirs(reads), theirs(writes), scratch);
        });
  }

 private:
  Device& device_;
  std::unique_ptr<Kernel> inner_;
  std::size_t workspace_bytes_;
};

class FarOptimizer final : public Optimizer {
 public:
  FarOptimizer(Device& device, std::unique_ptr<Optimizer> inner, std::size_t region_bytes,
               std::size_t copies_bytes)
      : device_(device),
        inner_(std::move(inner)),
        region_bytes_(region_bytes),
        copies_bytes_(copies_bytes) {}

  void reset(Stream& stream, std::span<void* const> slots, StepState* state) override {
    enqueue(stream, slots, [=, this](std::span<void* const> theirs) {
      inner_->reset(device_.inner_stream(), theirs, find(state));
    });
  }
  void judge(Stream& stream, const void* gradients, StepState* state) override {
    enqueue(stream, {}, [=, this](std::span<void* const>) {
      inner_->judge(device_.inner_stream(), find(gradients), find(state));
    });
  }
  void launch(Stream& stream, const OptimizerMemory& memory, StepState* state) override {
    enqueue(stream, memory.slots, [=, this](std::span<void* const> theirs) {
      inner_->launch(
          device_.inner_stream(),
          {.variables = find(memory.variables),
           .gradients = find(memory.gradients),
           .decaying = memory.decaying == nullptr ? nullptr : find(memory.decaying),
           .slots = theirs,
           .copies = copies_bytes_ == 0 ? nullptr
                                        : device_.addresses().find(memory.copies, copies_bytes_)},
          find(state));
    });
  }

 private:
  template <class Work>
  void enqueue(Stream& stream, std::span<void* const> slots, Work work) {
    static_cast<FarStream&>(stream).enqueue(
        [this, ours = std::vector(slots.begin(), slots.end()), work = std::move(work)] {
          std::vector<void*> theirs;
          std::transform(ours.begin(), ours.end(), std::back_inserter(theirs),
                         [this](void* slot) { return find(slot); });
          work(theirs);
        });
  }
  [[nodiscard]] std::byte* find(const void* address) const {
    return device_.addresses().find(address, region_bytes_);
  }
  [[nodiscard]] StepState* find(StepState* state) const {
    return reinterpret_cast<StepState*>(device_.addresses().find(state, sizeof *state));
  }

  Device& device_;
  std::unique_ptr<Optimizer> inner_;
  /// Up to the end of the last segment, and of the last copy.
  std::size_t region_bytes_;
  std::size_t copies_bytes_;
};

struct OwnedBackend {
  std::unique_ptr<Backend> owned;
};

class FarBackend final : private OwnedBackend, public ForwardingBackend {
 public:
  FarBackend(std::unique_ptr<Backend> inner, const FarSchedule& schedule)
      : OwnedBackend{std::move(inner)}, ForwardingBackend(*owned), device_(*owned, schedule) {}

  std::vector<Candidate> candidates(const Graph& graph, const Node& node,
                                    DataFormat format) override {
    std::vector<Candidate> candidates = ForwardingBackend::candidates(graph, node, format);
    for (Candidate& candidate : candidates) {
      candidate.make = [this, make = candidate.make, bytes = candidate.workspace_bytes] {
        return std::make_unique<FarKernel>(device_, make(), bytes);
      };
    }
    return candidates;
  }
  std::unique_ptr<Kernel> make_reorder(const Placed& from, const Placed& to) override {
    return std::make_unique<FarKernel>(device_, ForwardingBackend::make_reorder(from, to), 0);
  }
  std::unique_ptr<Kernel> make_normalization(const Normalization& range,
                                             const Placed& images) override {
    return std::make_unique<FarKernel>(device_,
                                       ForwardingBackend::make_normalization(range, images), 0);
  }
  std::unique_ptr<Optimizer> make_optimizer(const OptimizerSettings& settings,
                                            std::vector<OptimizerSegment> segments) override {
    std::size_t elements = 0;
    std::size_t copied = 0;
    for (const OptimizerSegment& segment : segments) {
      elements = std::max(elements, segment.offset + segment.count);
      for (const OptimizerSegment::Copy& copy : segment.copies) {
        copied = std::max(copied, copy.offset + segment.count);
      }
    }
    return std::make_unique<FarOptimizer>(
        device_, ForwardingBackend::make_optimizer(settings, std::move(segments)),
        elements * size_of(settings.dtype), copied * sizeof(std::uint16_t));
  }
  std::unique_ptr<Stream> make_stream() override { return std::make_unique<FarStream>(device_); }
  std::unique_ptr<Stream> make_urgent_stream() override { return make_stream(); }
  std::unique_ptr<Event> make_event() override { return std::make_unique<FarEvent>(device_); }
  std::unique_ptr<DeviceMemory> allocate(std::size_t bytes) override {
    return std::make_unique<FarMemory>(device_, bytes);
  }
  [[nodiscard]] bool shares_host_memory() const override { return false; }
  [[nodiscard]] MemoryTraits memory_traits() const override {
    constexpr std::size_t kAlignment = 256;
    return {.alignment = kAlignment, .free_bytes = device_.free_bytes()};
  }
  [[nodiscard]] std::int64_t waits() const { return device_.waits(); }
  [[nodiscard]] std::size_t uploaded() const { return device_.uploaded(); }

 private:
  Device device_;
};

}  // namespace

std::vector<FarSchedule> far_schedules(std::uint64_t seeds) {
  std::vector<FarSchedule> schedules{{.kind = FarSchedule::Kind::eager},
                                     {.kind = FarSchedule::Kind::deferred}};
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    schedules.push_back({.kind = FarSchedule::Kind::random, .seed = seed});
  }
  return schedules;
}

std::unique_ptr<Backend> make_far_backend(std::unique_ptr<Backend> inner,
                                          const FarSchedule& schedule) {
  return std::make_unique<FarBackend>(std::move(inner), schedule);
}

std::int64_t waits_for(const Backend& far) { return dynamic_cast<const FarBackend&>(far).waits(); }

std::size_t uploaded_to(const Backend& far) {
  return dynamic_cast<const FarBackend&>(far).uploaded();
}

}  // namespace bench
