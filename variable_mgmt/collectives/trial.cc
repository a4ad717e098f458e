#include "variable_mgmt/collectives/trial.h"

#include <algorithm>
#include <array>
#include <iomanip>
#include <sstream>

#include "variable_mgmt/collectives/nccl_collective.h"
#include "variable_mgmt/collectives/schedule.h"
#include "variable_mgmt/collectives/threaded_reduce.h"

namespace bench {
namespace {

using std::chrono::steady_clock;

/// The offsets of a step's buffer views in bytes, each at a multiple of a page; the last is the
/// end.
std::vector<std::size_t> offsets_of(const TrialPlan& plan) {
  constexpr std::size_t kPageBytes = 4096;
  std::vector<std::size_t> offsets{0};
  for (const std::size_t elements : plan.elements) {
    const std::size_t bytes = elements * size_of(plan.dtype);
    offsets.push_back(offsets.back() + (bytes + kPageBytes - 1) / kPageBytes * kPageBytes);
  }
  return offsets;
}

}  // namespace

double AllReduceTiming::median() const {
  check(!seconds.empty(), "all-reduce trial: nothing was timed");
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/// A tower's memory and stream. An all-reduce of one element is the barrier at which all begin: it
/// has a deadline and reports missing towers.
class AllReduceTrial::Part {
 public:
  Part(AllReduceTrial& trial, int rank, Backend& backend, Stream& stream, const Patience& patience)
      : trial_(trial),
        rank_(rank),
        backend_(backend),
        stream_(stream),
        patience_(patience),
        offsets_(offsets_of(trial.plan_)),
        memory_(backend.allocate(std::max<std::size_t>(offsets_.back(), 1))),
        word_(backend.allocate(sizeof(float))),
        threads_(backend.host_threads()) {
    for (const auto& collective : trial.collectives_) {
      members_.push_back(collective->join(rank, backend, stream));
    }
  }

  void run() {
    // Each repetition runs all of them, so that other load on the machine affects all equally.
    for (int i = 0; i < plan().warm_up + plan().repetitions; ++i) {
      const bool timed = i >= plan().warm_up;
      if (plan().bound) {
        time_once(plan().specs.size(), timed, [this] { double_all(); });
      }
      for (std::size_t spec = 0; spec < plan().specs.size(); ++spec) {
        time_once(spec, timed,
                  [this, spec] { add_all(*members_[spec], adds_by_nccl(plan().specs[spec])); });
      }
    }
    wait_for_all();  // No tower leaves before all have the others' elements.
  }

 private:
  [[nodiscard]] const TrialPlan& plan() const { return trial_.plan_; }
  [[nodiscard]] std::byte* view(std::size_t index) const {
    return memory_->data() + offsets_[index];
  }
  void wait_for_all() {
    CollectiveMember& gate = *members_.back();
    gate.wait(gate.start({.data = word_->data(), .elements = 1}), patience_);
  }
  void add_all(CollectiveMember& member, bool by_nccl) {
    Patience patience = patience_;
    if (by_nccl) {
      patience.deadline = std::min(patience.deadline, steady_clock::now() + plan().nccl_timeout);
    }
    std::vector<CollectiveMember::Handle> handles;
    for (std::size_t s = 0; s < plan().elements.size(); ++s) {
      handles.push_back(member.start(
          {.data = view(s), .elements = plan().elements[s], .dtype = plan().dtype, .index = s}));
    }
    for (const auto handle : handles) {
      member.wait(handle, patience);
    }
    stream_.synchronize();
  }
  void double_all() {
    check(backend_.shares_host_memory(),
          "all-reduce trial: the bound needs a device that shares the host's memory");
    for (std::size_t s = 0; s < plan().elements.size(); ++s) {
      // Zeros stay zeros when doubled.
      const std::array<const void*, 2> sources{view(s), view(s)};
      const std::array<void*, 1> targets{view(s)};
      reduce_by(threads_, {.dtype = plan().dtype,
                           .count = plan().elements[s],
                           .sources = sources,
                           .targets = targets});
    }
  }
  template <class Work>
  void time_once(std::size_t spec, bool timed, const Work& work) {
    stream_.synchronize();
    wait_for_all();
    const auto begin = steady_clock::now();
    for (int link = 0; link < plan().chained; ++link) {
      work();
    }
    if (timed) {
      trial_.spans(spec, rank_).push_back({.begin = begin, .end = steady_clock::now()});
    }
  }

  AllReduceTrial& trial_;
  const int rank_;
  Backend& backend_;
  Stream& stream_;
  const Patience& patience_;
  const std::vector<std::size_t> offsets_;
  const std::unique_ptr<DeviceMemory> memory_;
  const std::unique_ptr<DeviceMemory> word_;
  const HostThreads threads_;
  std::vector<std::unique_ptr<CollectiveMember>> members_;
};

AllReduceTrial::AllReduceTrial(TrialPlan plan)
    : plan_(std::move(plan)), spans_((plan_.specs.size() + 1) * plan_.names.size()) {
  const auto make = [&](CollectiveOptions options) {
    return plan_.make ? plan_.make(std::move(options))
                      : make_collective(std::move(options), plan_.nccl_timeout);
  };
  for (const auto& spec : plan_.specs) {
    collectives_.push_back(
        make({.names = plan_.names, .spec = spec, .ring_order = plan_.ring_order}));
  }
  collectives_.push_back(make({.names = plan_.names}));
}

AllReduceTrial::~AllReduceTrial() = default;

void AllReduceTrial::run(int rank, Backend& backend, Stream& stream, const Patience& patience) {
  try {
    Part(*this, rank, backend, stream, patience).run();
  } catch (const std::exception& error) {
    cancel(rank, error.what());
    throw;
  }
}

void AllReduceTrial::cancel(int rank, const std::string& reason) noexcept {
  for (const auto& collective : collectives_) {
    collective->cancel(rank, reason);
  }
}

std::vector<double> AllReduceTrial::seconds(std::size_t spec) const {
  const std::size_t members = plan_.names.size();
  const auto* const towers = &spans_[spec * members];
  std::vector<double> seconds;
  for (std::size_t i = 0; i < towers[0].size(); ++i) {
    Span whole = towers[0][i];
    for (std::size_t rank = 1; rank < members; ++rank) {
      whole.begin = std::min(whole.begin, towers[rank][i].begin);
      whole.end = std::max(whole.end, towers[rank][i].end);
    }
    seconds.push_back(std::chrono::duration<double>(whole.end - whole.begin).count());
  }
  return seconds;
}

std::vector<AllReduceTiming> AllReduceTrial::timings() const {
  std::vector<AllReduceTiming> timings;
  for (std::size_t spec = 0; spec < plan_.specs.size(); ++spec) {
    timings.push_back({.spec = plan_.specs[spec], .seconds = seconds(spec)});
  }
  return timings;
}

AllReduceTiming AllReduceTrial::bound() const {
  check(plan_.bound, "all-reduce trial: the bound was not requested");
  return {.spec = {}, .seconds = seconds(plan_.specs.size())};
}

std::vector<std::vector<AllReduceRange>> specs_to_try(int members) {
  std::vector<std::vector<AllReduceRange>> specs;
  for (const std::string& name : host_algorithms()) {
    specs.push_back({{.algorithm = name}});
    if (members > 1 && (name == "xring" || name == "psgpu")) {
      specs.push_back({{.algorithm = name, .shards = name == "xring" ? 2 : members}});
    }
  }
  return specs;
}

const AllReduceTiming& quickest(const std::vector<AllReduceTiming>& timings) {
  check(!timings.empty(), "all-reduce trial: nothing was timed");
  return *std::min_element(
      timings.begin(), timings.end(),
      [](const AllReduceTiming& a, const AllReduceTiming& b) { return a.median() < b.median(); });
}

std::string text_of(const std::vector<AllReduceRange>& spec) {
  std::string text;
  for (const AllReduceRange& range : spec) {
    text += text.empty() ? "" : ":";
    text += name_of(range);
    if (range.limit >= 0) {
      text += fmt::format(":{}", range.limit);
    }
  }
  return text;
}

std::string describe_choice(const std::vector<AllReduceTiming>& timings) {
  constexpr double kMilli = 1e3;
  const AllReduceTiming& best = quickest(timings);
  std::ostringstream text;
  text << std::fixed << std::setprecision(2) << text_of(best.spec) << " (" << kMilli * best.median()
       << " ms";
  const char* separator = "; ";
  for (const AllReduceTiming& each : timings) {
    if (&each != &best) {
      text << separator << text_of(each.spec) << " " << kMilli * each.median();
      separator = " ms, ";
    }
  }
  text << (timings.size() > 1 ? " ms)" : ")");
  return text.str();
}

}  // namespace bench
