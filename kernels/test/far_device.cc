#include "kernels/test/far_device.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "kernels/forwarding_backend.h"
#include "kernels/runtime/memory_plan.h"
#include "kernels/test/far_machine.h"
#include "models/base/errors.h"

namespace bench {
namespace {

constexpr std::size_t kPageBytes = 4096;

class FarMemory final : public DeviceMemory {
 public:
  FarMemory(FarMachine& machine, std::size_t bytes)
      : machine_(machine), asked_(bytes), bytes_(align_up(bytes + 1, kPageBytes)) {
    machine_.take_memory(bytes);
    address_ = map(PROT_NONE);
    memory_ = map(PROT_READ | PROT_WRITE);
    machine_.addresses().add(address_, memory_, bytes);
  }
  ~FarMemory() override {
    machine_.addresses().remove(address_);
    machine_.give_memory(asked_);
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

  FarMachine& machine_;
  std::size_t asked_;
  std::size_t bytes_;
  std::byte* address_ = nullptr;
  std::byte* memory_ = nullptr;
};

class FarRecording final : public Recording {
 public:
  FarQueue operations;
};

class FarStream final : public Stream {
 public:
  explicit FarStream(FarMachine& machine) : machine_(machine) { machine_.add(queue_); }
  /// Pending work may refer to freed memory: destroying a stream with such work is a fault.
  ~FarStream() override {
    if (!queue_.empty()) {
      std::fputs("far device: a stream ended before its work\n", stderr);
      std::abort();
    }
    machine_.remove(queue_);
  }

  void synchronize() override {
    check(recording_ == nullptr, "far device: a recording waits for nothing");
    machine_.run_until([this] { return queue_.empty(); }, {});
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
        std::this_thread::sleep_for(machine_.upload_delay());
        inner().upload(from, find(to, from.size()));
        machine_.count_upload(from.size());
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
    try {
      enqueue();
    } catch (...) {
      recording_ = nullptr;
      throw;
    }
    recording_ = nullptr;
    return recording;
  }
  void replay(Recording& recording) override {
    for (const FarOperation& operation : static_cast<FarRecording&>(recording).operations) {
      push(operation);
    }
  }

  void enqueue(std::function<void()> work) { push({.run = std::move(work)}); }
  /// Throws InternalError unless the memory is the device's.
  void check_ours(const void* address, std::size_t bytes) const { (void)find(address, bytes); }

 private:
  void push(FarOperation operation) {
    if (recording_ != nullptr) {
      recording_->operations.push_back(std::move(operation));
      return;
    }
    queue_.push_back(std::move(operation));
    machine_.after_enqueue();
  }
  Stream& inner() { return machine_.inner_stream(); }
  [[nodiscard]] std::byte* find(const void* address, std::size_t bytes) const {
    return machine_.addresses().find(address, bytes);
  }

  FarMachine& machine_;
  FarQueue queue_;
  FarRecording* recording_ = nullptr;
};

class FarKernel final : public Kernel {
 public:
  FarKernel(FarMachine& machine, std::unique_ptr<Kernel> inner, std::size_t workspace_bytes)
      : machine_(machine), inner_(std::move(inner)), workspace_bytes_(workspace_bytes) {}

  void launch(Stream& stream, std::span<const TensorView> inputs,
              std::span<const TensorView> outputs, void* workspace) override {
    for (const auto views : {inputs, outputs}) {
      for (const TensorView& view : views) {
        (void)machine_.addresses().find(view);
      }
    }
    static_cast<FarStream&>(stream).enqueue(
        [this, reads = std::vector(inputs.begin(), inputs.end()),
         writes = std::vector(outputs.begin(), outputs.end()), workspace] {
          const auto theirs = [this](std::vector<TensorView> views) {
            std::transform(views.begin(), views.end(), views.begin(),
                           [this](const auto& view) { return machine_.addresses().find(view); });
            return views;
          };
          void* const scratch = workspace_bytes_ == 0
                                    ? nullptr
                                    : machine_.addresses().find(workspace, workspace_bytes_);
          inner_->launch(machine_.inner_stream(), theirs(reads), theirs(writes), scratch);
        });
  }

 private:
  FarMachine& machine_;
  std::unique_ptr<Kernel> inner_;
  std::size_t workspace_bytes_;
};

class FarOptimizer final : public Optimizer {
 public:
  FarOptimizer(FarMachine& machine, std::unique_ptr<Optimizer> inner, std::size_t region_bytes,
               std::size_t copies_bytes)
      : machine_(machine),
        inner_(std::move(inner)),
        region_bytes_(region_bytes),
        copies_bytes_(copies_bytes) {}

  void reset(Stream& stream, std::span<void* const> slots, StepState* state) override {
    enqueue(stream, slots, [=, this](std::span<void* const> theirs) {
      inner_->reset(machine_.inner_stream(), theirs, find(state));
    });
  }
  void judge(Stream& stream, const void* gradients, StepState* state) override {
    enqueue(stream, {}, [=, this](std::span<void* const>) {
      inner_->judge(machine_.inner_stream(), find(gradients), find(state));
    });
  }
  void launch(Stream& stream, const OptimizerMemory& memory, StepState* state) override {
    enqueue(stream, memory.slots, [=, this](std::span<void* const> theirs) {
      inner_->launch(
          machine_.inner_stream(),
          {.variables = find(memory.variables),
           .gradients = find(memory.gradients),
           .decaying = memory.decaying == nullptr ? nullptr : find(memory.decaying),
           .slots = theirs,
           .copies = copies_bytes_ == 0 ? nullptr
                                        : machine_.addresses().find(memory.copies, copies_bytes_)},
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
    return machine_.addresses().find(address, region_bytes_);
  }
  [[nodiscard]] StepState* find(StepState* state) const {
    return reinterpret_cast<StepState*>(machine_.addresses().find(state, sizeof *state));
  }

  FarMachine& machine_;
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
      : OwnedBackend{std::move(inner)}, ForwardingBackend(*owned), machine_(*owned, schedule) {}

  std::vector<Candidate> candidates(const Graph& graph, const Node& node,
                                    DataFormat format) override {
    std::vector<Candidate> candidates = ForwardingBackend::candidates(graph, node, format);
    for (Candidate& candidate : candidates) {
      candidate.make = [this, make = candidate.make, bytes = candidate.workspace_bytes] {
        return std::make_unique<FarKernel>(machine_, make(), bytes);
      };
    }
    return candidates;
  }
  std::unique_ptr<Kernel> make_reorder(const Placed& from, const Placed& to) override {
    return std::make_unique<FarKernel>(machine_, ForwardingBackend::make_reorder(from, to), 0);
  }
  std::unique_ptr<Kernel> make_normalization(const Normalization& range,
                                             const Placed& images) override {
    return std::make_unique<FarKernel>(machine_,
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
        machine_, ForwardingBackend::make_optimizer(settings, std::move(segments)),
        elements * size_of(settings.dtype), copied * sizeof(std::uint16_t));
  }
  std::unique_ptr<Stream> make_stream() override { return std::make_unique<FarStream>(machine_); }
  std::unique_ptr<Stream> make_urgent_stream() override { return make_stream(); }
  std::unique_ptr<Event> make_event() override { return std::make_unique<FarEvent>(machine_); }
  std::unique_ptr<DeviceMemory> allocate(std::size_t bytes) override {
    return std::make_unique<FarMemory>(machine_, bytes);
  }
  [[nodiscard]] bool shares_host_memory() const override { return false; }
  [[nodiscard]] MemoryTraits memory_traits() const override {
    constexpr std::size_t kAlignment = 256;
    return {.alignment = kAlignment, .free_bytes = machine_.free_bytes()};
  }
  [[nodiscard]] std::int64_t waits() const { return machine_.waits(); }
  [[nodiscard]] std::size_t uploaded() const { return machine_.uploaded(); }

 private:
  FarMachine machine_;
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
