#include "bench/all_reduce/measure.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <mutex>
#include <numeric>

#include "models/base/half.h"
#include "models/base/threads.h"
#include "variable_mgmt/collectives/nccl_collective.h"
#include "variable_mgmt/world/remote_sum.h"

namespace bench {
namespace {

/// Longer than any all-reduce takes; exceeding it is a fault.
constexpr std::chrono::minutes kPatience{2};
/// The same for connections of NCCL, and for each of its timed all-reduces.
constexpr std::chrono::minutes kNcclPatience{1};

/// The elements repeat with this period. They are integers whose sums over 16 towers are exact in
/// 16 bits.
constexpr std::size_t kPeriod = 17;

double pattern(std::size_t place, int rank) {
  constexpr int kStep = 5;
  constexpr int kMiddle = 8;
  return static_cast<double>((place * 7 + static_cast<std::size_t>(rank * kStep)) % kPeriod) -
         kMiddle;
}

void write_element(DType dtype, double value, std::byte* to) {
  const auto put = [to](const auto& typed) { std::memcpy(to, &typed, sizeof typed); };
  switch (dtype) {
    case DType::f64:
      return put(value);
    case DType::f32:
      return put(static_cast<float>(value));
    case DType::f16:
      return put(narrow_to_float16(value));
    default:
      return put(narrow_to_bfloat16(value));
  }
}

/// Repeats a period of elements that are given by `value`.
class PatternBytes {
 public:
  template <class Value>
  PatternBytes(DType dtype, const Value& value) : size_(size_of(dtype)) {
    for (std::size_t i = 0; i < kPeriod; ++i) {
      write_element(dtype, value(i), period_.data() + i * size_);
    }
  }
  void fill(std::vector<std::byte>& bytes) const {
    for (std::size_t at = 0; at < bytes.size(); at += kPeriod * size_) {
      std::memcpy(bytes.data() + at, period_.data(), std::min(kPeriod * size_, bytes.size() - at));
    }
  }
  [[nodiscard]] std::size_t count_others(const std::vector<std::byte>& bytes) const {
    std::size_t others = 0;
    for (std::size_t at = 0, i = 0; at < bytes.size(); at += size_, i = (i + 1) % kPeriod) {
      others += std::memcmp(bytes.data() + at, period_.data() + i * size_, size_) == 0 ? 0 : 1;
    }
    return others;
  }

 private:
  std::size_t size_;
  std::array<std::byte, kPeriod * sizeof(double)> period_{};
};

/// Compares the sums of a member with the expected sums.
std::size_t count_wrong(CollectiveMember& member, int rank, int towers,
                        const AllReduceCase& measured, Backend& backend, Stream& stream,
                        const Patience& patience) {
  const PatternBytes own(measured.dtype, [rank](std::size_t i) { return pattern(i, rank); });
  const PatternBytes sum(measured.dtype, [towers](std::size_t i) {
    double value = 0;
    for (int each = 0; each < towers; ++each) {
      value += pattern(i, each);
    }
    return value;
  });
  std::size_t wrong = 0;
  for (std::size_t s = 0; s < measured.elements.size(); ++s) {
    std::vector<std::byte> bytes(measured.elements[s] * size_of(measured.dtype));
    own.fill(bytes);
    const auto memory = backend.allocate(std::max<std::size_t>(bytes.size(), 1));
    stream.upload(bytes, memory->data());
    member.wait(member.start({.data = memory->data(),
                              .elements = measured.elements[s],
                              .dtype = measured.dtype,
                              .index = s}),
                patience);
    stream.download(memory->data(), bytes);
    stream.synchronize();
    wrong += sum.count_others(bytes);
  }
  return wrong;
}

/// Runs `work(rank)` on a thread per tower; `cancel(rank, reason)` reports a failure to the others.
template <class Work, class Cancel>
void run_towers(int towers, const Work& work, const Cancel& cancel) {
  std::mutex mutex;
  std::exception_ptr first;
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < towers; ++rank) {
      threads.push_back(start_thread([&, rank] {
        try {
          work(rank);
        } catch (const std::exception& error) {
          cancel(rank, error.what());
          const std::lock_guard lock(mutex);
          if (first == nullptr || dynamic_cast<const Cancelled*>(&error) == nullptr) {
            first = std::current_exception();
          }
        }
      }));
    }
  }
  if (first != nullptr) {
    std::rethrow_exception(first);
  }
}

}  // namespace

std::size_t AllReduceCase::bytes() const {
  return size_of(dtype) * std::accumulate(elements.begin(), elements.end(), std::size_t{0});
}

CaseResult measure_case(const MeasureSettings& settings, const AllReduceCase& measured) {
  const auto towers = static_cast<int>(settings.names.size());
  const int before = settings.world == nullptr ? 0 : towers * settings.world->rank();
  const int all = settings.world == nullptr ? towers : towers * settings.world->size();
  const auto make = [&](CollectiveOptions options) {
    if (settings.world == nullptr) {
      return make_collective(std::move(options), kNcclPatience);
    }
    if (!adds_by_nccl(options.spec) && !adds_by_mpi(options.spec)) {
      options.spec.clear();
    }
    return make_world_collective(*settings.world, std::move(options), kNcclPatience);
  };
  AllReduceTrial trial({.names = settings.names,
                        .specs = settings.specs,
                        .elements = measured.elements,
                        .dtype = measured.dtype,
                        .chained = settings.iters_per_step,
                        .warm_up = settings.warm_up,
                        .repetitions = settings.repetitions,
                        .make = make,
                        .nccl_timeout = kNcclPatience,
                        .bound = settings.bound});
  std::vector<std::unique_ptr<Collective>> checked;
  for (const auto& spec : settings.specs) {
    checked.push_back(make({.names = settings.names, .spec = spec}));
  }
  std::vector<std::vector<std::size_t>> wrong(settings.specs.size(),
                                              std::vector<std::size_t>(settings.names.size()));
  run_towers(
      towers,
      [&](int rank) {
        const auto backend = settings.make_backend(rank);
        const auto stream = backend->make_stream();
        const auto patience = [] {
          return Patience{.deadline = std::chrono::steady_clock::now() + kPatience};
        };
        // All members exist until every tower is done, which is when the trial ends.
        std::vector<std::unique_ptr<CollectiveMember>> members;
        for (std::size_t spec = 0; spec < settings.specs.size(); ++spec) {
          members.push_back(checked[spec]->join(rank, *backend, *stream));
          wrong[spec][static_cast<std::size_t>(rank)] = count_wrong(
              *members.back(), before + rank, all, measured, *backend, *stream, patience());
        }
        trial.run(rank, *backend, *stream, patience());
      },
      [&](int rank, const std::string& reason) {
        trial.cancel(rank, reason);
        for (const auto& collective : checked) {
          collective->cancel(rank, reason);
        }
      });
  const auto each = [&](AllReduceTiming timing) {
    for (double& seconds : timing.seconds) {
      seconds /= settings.iters_per_step;
    }
    return timing;
  };
  CaseResult result{.measured = measured};
  if (settings.bound) {
    result.bound = each(trial.bound());
  }
  const auto timings = trial.timings();
  for (std::size_t spec = 0; spec < timings.size(); ++spec) {
    std::size_t sum = std::accumulate(wrong[spec].begin(), wrong[spec].end(), std::size_t{0});
    if (settings.world != nullptr) {
      const auto counts = settings.world->gather(std::to_string(sum));
      sum = std::accumulate(
          counts.begin(), counts.end(), std::size_t{0},
          [](std::size_t total, const std::string& count) { return total + std::stoull(count); });
    }
    result.specs.push_back({.timing = each(timings[spec]), .wrong = sum});
  }
  return result;
}

}  // namespace bench
