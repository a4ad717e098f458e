#include "variable_mgmt/collectives/trial.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "variable_mgmt/collectives/schedule.h"

namespace bench {
namespace {

using std::chrono::steady_clock;

/// Bytes of a step's stretches, each beginning at a multiple of a page.
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

AllReduceTrial::AllReduceTrial(TrialPlan plan)
    : plan_(std::move(plan)), spans_(plan_.specs.size() * plan_.names.size()) {
  for (const auto& spec : plan_.specs) {
    collectives_.push_back(
        make_host_collective({.names = plan_.names, .spec = spec, .ring_order = plan_.ring_order}));
  }
  collectives_.push_back(make_host_collective({.names = plan_.names}));
}

AllReduceTrial::~AllReduceTrial() = default;

void AllReduceTrial::run(int rank, Backend& backend, Stream& stream, const Patience& patience) {
  const std::vector<std::size_t> offsets = offsets_of(plan_);
  const auto memory = backend.allocate(std::max<std::size_t>(offsets.back(), 1));
  const auto word = backend.allocate(sizeof(float));
  const auto gate = collectives_.back()->join(rank, backend, stream);
  const auto meet = [&] {
    gate->wait(gate->start({.data = word->data(), .elements = 1}), patience);
  };
  try {
    for (std::size_t spec = 0; spec < plan_.specs.size(); ++spec) {
      const auto member = collectives_[spec]->join(rank, backend, stream);
      for (int i = 0; i < plan_.warm_up + plan_.repetitions; ++i) {
        stream.synchronize();
        meet();
        const auto begin = steady_clock::now();
        std::vector<CollectiveMember::Handle> handles;
        for (std::size_t s = 0; s < plan_.elements.size(); ++s) {
          handles.push_back(member->start({.data = memory->data() + offsets[s],
                                           .elements = plan_.elements[s],
                                           .dtype = plan_.dtype,
                                           .index = s}));
        }
        for (const auto handle : handles) {
          member->wait(handle, patience);
        }
        stream.synchronize();
        if (i >= plan_.warm_up) {
          spans(spec, rank).push_back({.begin = begin, .end = steady_clock::now()});
        }
      }
      meet();  // Nobody leaves before all have what the others gave.
    }
  } catch (const std::exception& error) {
    cancel(rank, error.what());
    finish(stream);
    throw;
  }
}

void AllReduceTrial::cancel(int rank, const std::string& reason) noexcept {
  for (const auto& collective : collectives_) {
    collective->cancel(rank, reason);
  }
}

std::vector<AllReduceTiming> AllReduceTrial::timings() const {
  std::vector<AllReduceTiming> timings;
  const std::size_t members = plan_.names.size();
  for (std::size_t spec = 0; spec < plan_.specs.size(); ++spec) {
    AllReduceTiming& timing = timings.emplace_back();
    timing.spec = plan_.specs[spec];
    const auto* const all = &spans_[spec * members];
    for (std::size_t i = 0; i < all[0].size(); ++i) {
      Span whole = all[0][i];
      for (std::size_t rank = 1; rank < members; ++rank) {
        whole.begin = std::min(whole.begin, all[rank][i].begin);
        whole.end = std::max(whole.end, all[rank][i].end);
      }
      timing.seconds.push_back(std::chrono::duration<double>(whole.end - whole.begin).count());
    }
  }
  return timings;
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
    text += cat(text.empty() ? "" : ":", name_of(range));
    if (range.limit >= 0) {
      text += cat(":", range.limit);
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
