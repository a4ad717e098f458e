#include "bench/plan/watched_backend.h"

#include <utility>

#include "kernels/forwarding_backend.h"

namespace bench {
namespace {

class WatchedBackend final : public ForwardingBackend {
 public:
  WatchedBackend(std::unique_ptr<Backend> inner, PhaseWatch& phases)
      : ForwardingBackend(*inner), owned_(std::move(inner)), phases_(phases) {}

  std::vector<Candidate> candidates(const Graph& graph, const Node& node,
                                    DataFormat format) override {
    tell();
    ++layers_;
    std::vector<Candidate> candidates = ForwardingBackend::candidates(graph, node, format);
    for (Candidate& candidate : candidates) {
      candidate.make = [this, make = std::move(candidate.make)] {
        // Timing makes kernels too.
        phases_.tell_within(kPhase, kUnit, layers_, 0);
        return make();
      };
    }
    return candidates;
  }
  [[nodiscard]] double reorder_seconds(const TensorType& type, const Layout& from,
                                       const Layout& to) override {
    tell();
    return ForwardingBackend::reorder_seconds(type, from, to);
  }

 private:
  static constexpr std::string_view kPhase = "planning";
  static constexpr std::string_view kUnit = "layer";

  void tell() const { phases_.tell(kPhase, kUnit, layers_, 0); }

  std::unique_ptr<Backend> owned_;
  PhaseWatch& phases_;
  std::int64_t layers_ = 0;
};

}  // namespace

std::unique_ptr<Backend> watch_planning(std::unique_ptr<Backend> backend, PhaseWatch& phases) {
  return std::make_unique<WatchedBackend>(std::move(backend), phases);
}

}  // namespace bench
