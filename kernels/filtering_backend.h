#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/forwarding_backend.h"

namespace bench {

/// A backend with some of another's candidates.
class FilteringBackend final : public ForwardingBackend {
 public:
  /// Removes unwanted candidates of a node.
  using Filter = std::function<void(const Node& node, std::vector<Candidate>& candidates)>;

  /// `inner` outlives this.
  FilteringBackend(Backend& inner, Filter filter)
      : ForwardingBackend(inner), filter_(std::move(filter)) {}
  FilteringBackend(std::unique_ptr<Backend> inner, Filter filter)
      : ForwardingBackend(*inner), owned_(std::move(inner)), filter_(std::move(filter)) {}

  std::vector<Candidate> candidates(const Graph& graph, const Node& node,
                                    DataFormat format) override {
    std::vector<Candidate> all = ForwardingBackend::candidates(graph, node, format);
    filter_(node, all);
    return all;
  }

 private:
  /// Null if the backend is borrowed.
  std::unique_ptr<Backend> owned_;
  Filter filter_;
};

}  // namespace bench
