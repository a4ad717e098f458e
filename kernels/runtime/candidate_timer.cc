#include "kernels/runtime/candidate_timer.h"

#include <fmt/ostream.h>
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "kernels/runtime/memory_plan.h"
#include "models/base/errors.h"
#include "models/base/half.h"
#include "models/base/philox.h"
#include "models/ir/op.h"

namespace bench {
namespace {

/// Bytes written between two samples, in sizes of the last cache. It is more than the cache holds,
/// and keeps a GPU busy until the host has enqueued the next kernel.
constexpr std::size_t kFlushes = 4;
/// Used if the cache size is unknown.
constexpr std::size_t kUnknownCache = std::size_t{32} << 20U;
/// The time that an idle device needs to raise its clocks.
constexpr double kWarmUpSeconds = 0.05;
constexpr int kMostWarmUps = 1000;
/// Numbers in a block that is copied repeatedly.
constexpr std::size_t kNumbers = std::size_t{1} << 18U;

/// The key by which equal nodes are timed only once.
std::string key_of(const Graph& graph, const Node& node, const Candidate& candidate) {
  std::string key = fmt::format("{} {{{}}} {} {}", node.op->name, fmt::streamed(node.attributes),
                                candidate.implementation, candidate.workspace_bytes);
  const auto append = [&](const std::vector<ValueId>& values, const std::vector<Layout>& layouts) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      key += fmt::format(" {} {}", fmt::streamed(graph.type(values[i])), layouts[i].token());
    }
  };
  append(node.inputs, candidate.inputs);
  append(node.outputs, candidate.outputs);
  return key;
}

std::vector<std::byte> random_numbers(DType dtype) {
  std::vector<std::byte> bytes(kNumbers * size_of(dtype));
  RandomStream random(1, hash_name("candidate timer"));
  const auto put = [&](std::size_t index, const auto& value) {
    std::memcpy(bytes.data() + index * sizeof value, &value, sizeof value);
  };
  for (std::size_t i = 0; i < kNumbers; ++i) {
    const float number = 2 * random.uniform() - 1;
    switch (dtype) {
      case DType::f64:
        put(i, double{number});
        break;
      case DType::bf16:
        put(i, narrow_to_bfloat16(number));
        break;
      case DType::f16:
        put(i, narrow_to_float16(number));
        break;
      default:
        put(i, number);
    }
  }
  return bytes;
}

/// The offsets of a candidate's tensors and workspace in one piece of memory.
struct Places {
  struct Place {
    std::size_t offset = 0;
    std::size_t bytes = 0;
  };
  std::vector<Place> inputs;
  std::vector<Place> outputs;
  std::size_t workspace = 0;
  std::size_t total = 0;
};

Places places_of(const Graph& graph, const Node& node, const Candidate& candidate,
                 Backend& backend) {
  Places places;
  const std::size_t alignment = backend.memory_traits().alignment;
  const auto take = [&](std::size_t bytes) {
    return std::exchange(places.total, align_up(places.total + bytes, alignment));
  };
  const auto place = [&](ValueId id, const Layout& layout, std::size_t opaque_bytes) {
    const TensorType& type = graph.type(id);
    const Layout own = layout == Layout::any() ? backend.canonical_layout(type) : layout;
    const std::size_t bytes = type.opaque ? opaque_bytes : backend.bytes(type, own);
    return Places::Place{.offset = take(bytes), .bytes = bytes};
  };
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    places.inputs.push_back(place(node.inputs[i], candidate.inputs[i], 0));
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    places.outputs.push_back(place(node.outputs[i], candidate.outputs[i],
                                   candidate.opaque_bytes.empty() ? 0 : candidate.opaque_bytes[i]));
  }
  places.workspace = take(candidate.workspace_bytes);
  return places;
}

}  // namespace

struct CandidateTimer::Run {
  std::unique_ptr<DeviceMemory> memory;
  std::unique_ptr<Kernel> kernel;
  std::vector<TensorView> inputs;
  std::vector<TensorView> outputs;
  void* workspace = nullptr;
};

CandidateTimer::CandidateTimer(Backend& backend, KernelTimer& timer, const TimingMemory& memory,
                               Watch watch)
    : backend_(backend),
      timer_(timer),
      memory_(memory),
      watch_(std::move(watch)),
      stream_(backend.make_stream()) {
  // A small share: the timed candidate needs the rest.
  constexpr std::size_t kShare = 8;
  const std::size_t cache = backend.memory_traits().cache_bytes;
  flushed_bytes_ = std::min(kFlushes * (cache == 0 ? kUnknownCache : cache), memory.all / kShare);
  flushed_ = backend.allocate(flushed_bytes_);
}

CandidateTimer::~CandidateTimer() { finish(*stream_); }

std::optional<double> CandidateTimer::seconds(const Graph& graph, const Node& node,
                                              const Candidate& candidate) {
  const std::string key = key_of(graph, node, candidate);
  const auto known = known_.find(key);
  if (known != known_.end()) {
    return known->second;
  }
  return known_.emplace(key, measure(graph, node, candidate)).first->second;
}

std::optional<double> CandidateTimer::reorder_seconds(const TensorType& type, const Layout& from,
                                                      const Layout& to) {
  static const OpDef kReorder{.name = "reorder", .infer = [](const OpContext& context) {
                                return std::vector<TensorType>{context.inputs[0]};
                              }};
  Graph graph;
  const ValueId x = graph.add_input("x", type);
  graph.add_node(kReorder, "reorder", {}, {x});
  Candidate candidate;
  candidate.implementation = "reorder";
  candidate.inputs = {from};
  candidate.outputs = {to};
  candidate.make = [&] {
    return backend_.make_reorder({.type = type, .layout = from}, {.type = type, .layout = to});
  };
  return seconds(graph, graph.nodes()[0], candidate);
}

std::optional<double> CandidateTimer::measure(const Graph& graph, const Node& node,
                                              const Candidate& candidate) {
  const Places places = places_of(graph, node, candidate, backend_);
  if (candidate.workspace_bytes > memory_.workspace ||
      places.total > memory_.all - flushed_bytes_) {
    ++counts_.too_large;
    return std::nullopt;
  }
  tell(watch_, counts_.timed, 0);
  Run run;
  try {
    run.kernel = candidate.make();
  } catch (const DeviceError&) {
    ++counts_.refused;
    return std::nullopt;
  }
  try {
    run.memory = backend_.allocate(places.total);
  } catch (const DeviceError&) {
    // Other programs use the device's memory too, and it may be fragmented.
    ++counts_.too_large;
    return std::nullopt;
  }
  const auto view = [&](const Places::Place& place) {
    return TensorView{.data = run.memory->data() + place.offset, .bytes = place.bytes};
  };
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    run.inputs.push_back(view(places.inputs[i]));
    // Labels and other whole numbers stay 0, which is valid for all of them.
    if (const DType dtype = graph.type(node.inputs[i]).dtype; is_floating(dtype)) {
      fill(run.memory->data() + places.inputs[i].offset, places.inputs[i].bytes, dtype);
    }
  }
  std::transform(places.outputs.begin(), places.outputs.end(), std::back_inserter(run.outputs),
                 view);
  run.workspace = run.memory->data() + places.workspace;
  warm_up();
  double seconds = 0;
  try {
    seconds = settled_seconds([&] { return sample(run); });
  } catch (const DeviceError& error) {
    check_device(candidate, error);
    counts_.failed.push_back(fmt::format("{}: {}", candidate.implementation, error.what()));
    return std::nullopt;
  } catch (...) {
    finish(*stream_);
    throw;
  }
  ++counts_.timed;
  return seconds;
}

double CandidateTimer::sample(Run& run) {
  tell(watch_, counts_.timed, 0);
  empty_caches();
  return timer_.seconds(
      *stream_, [&] { run.kernel->launch(*stream_, run.inputs, run.outputs, run.workspace); });
}

void CandidateTimer::empty_caches() {
  if (!backend_.shares_host_memory()) {
    stream_->fill(flushed_->data(), std::byte{0}, flushed_bytes_);
    return;
  }
  // Each core has caches that only its own accesses empty.
  const HostThreads threads = backend_.host_threads();
  const std::size_t part = flushed_bytes_ / static_cast<std::size_t>(threads.count);
  // A large memset may bypass the caches, and so leave them as they are.
  constexpr std::size_t kLine = 64;
  threads.run([&](int thread) {
    std::byte* const begin = flushed_->data() + static_cast<std::size_t>(thread) * part;
    for (std::size_t i = 0; i < part; i += kLine) {
      begin[i] = std::byte{0};
    }
  });
}

void CandidateTimer::check_device(const Candidate& candidate, const DeviceError& error) {
  // A library may refuse at execution what it accepted before. After an illegal access, however,
  // every call fails.
  finish(*stream_);
  try {
    stream_->fill(flushed_->data(), std::byte{0}, flushed_bytes_);
    stream_->synchronize();
  } catch (const DeviceError&) {
    throw DeviceError(fmt::format("the device stopped working after kernel {} ran: {}",
                                  candidate.implementation, error.what()));
  }
}

void CandidateTimer::warm_up() {
  if (counts_.timed > 0 || flushed_bytes_ == 0) {
    return;
  }
  double seconds = 0;
  for (int i = 0; i < kMostWarmUps && seconds < kWarmUpSeconds; ++i) {
    tell(watch_, counts_.timed, 0);
    seconds += timer_.seconds(
        *stream_, [&] { stream_->fill(flushed_->data(), std::byte{0}, flushed_bytes_); });
  }
}

const DeviceMemory& CandidateTimer::numbers(DType dtype) {
  std::unique_ptr<DeviceMemory>& memory = numbers_[dtype];
  if (memory == nullptr) {
    const std::vector<std::byte> host = random_numbers(dtype);
    memory = backend_.allocate(host.size());
    stream_->upload(host, memory->data());
    stream_->synchronize();
  }
  return *memory;
}

void CandidateTimer::fill(std::byte* to, std::size_t bytes, DType dtype) {
  const DeviceMemory& block = numbers(dtype);
  const std::size_t block_bytes = kNumbers * size_of(dtype);
  for (std::size_t done = 0; done < bytes; done += block_bytes) {
    stream_->copy(block.data(), to + done, std::min(block_bytes, bytes - done));
  }
}

}  // namespace bench
