#include "variable_mgmt/gradients/peer_sum.h"

#include <algorithm>
#include <array>
#include <vector>

#include "models/base/errors.h"
#include "models/ops/add.h"

namespace bench {
namespace {

/// 2 MiB of f32: small enough to stay in a device's cache, and not to matter in a plan of its
/// memory.
constexpr std::size_t kChunk = std::size_t{1} << 19;

}  // namespace

PeerSum::PeerSum(Backend& backend, DType dtype, std::size_t elements)
    : dtype_(dtype),
      elements_(elements),
      chunk_(make_adder(backend, std::min(elements, kChunk))),
      rest_(make_adder(backend, elements % kChunk)),
      sum_(backend.allocate(chunk_.elements * size_of(dtype))),
      term_(backend.allocate(chunk_.elements * size_of(dtype))) {}

PeerSum::Adder PeerSum::make_adder(Backend& backend, std::size_t elements) const {
  if (elements == 0) {
    return {};
  }
  Graph graph;
  const TensorType type{.dtype = dtype_, .shape = {1, static_cast<std::int64_t>(elements)}};
  const ValueId a = graph.add_input("a", type);
  const ValueId b = graph.add_input("b", type);
  graph.set_output("sum", graph.add_node(kAdd, "sum", {}, {a, b})[0]);
  const Layout plain = backend.canonical_layout(type);
  const std::vector<Candidate> candidates =
      backend.candidates(graph, graph.nodes().front(), DataFormat::automatic);
  const auto chosen =
      std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
        return candidate.inputs == std::vector<Layout>{plain, plain} &&
               candidate.outputs == std::vector<Layout>{plain} &&
               std::any_of(candidate.may_overwrite.begin(), candidate.may_overwrite.end(),
                           [](const Candidate::Overwrite& way) { return way.input == 0; });
      });
  check(chosen != candidates.end(), "the device cannot add in place");
  return {.elements = elements,
          .kernel = chosen->make(),
          .workspace = backend.allocate(chosen->workspace_bytes)};
}

void PeerSum::enqueue(Stream& stream, std::span<const std::byte* const> terms, std::byte* to) {
  std::size_t first = 0;
  for (; elements_ - first >= kChunk; first += kChunk) {
    enqueue_chunk(stream, terms, to, first, chunk_);
  }
  if (first < elements_) {
    enqueue_chunk(stream, terms, to, first, rest_);
  }
}

void PeerSum::enqueue_chunk(Stream& stream, std::span<const std::byte* const> terms, std::byte* to,
                            std::size_t first, const Adder& adder) {
  const std::size_t offset = first * size_of(dtype_);
  const std::size_t bytes = adder.elements * size_of(dtype_);
  const TensorView sum{.data = sum_->data(), .bytes = bytes};
  const TensorView term{.data = term_->data(), .bytes = bytes};
  stream.copy(terms.front() + offset, sum.data, bytes);
  for (const std::byte* const other : terms.subspan(1)) {
    stream.copy(other + offset, term.data, bytes);
    adder.kernel->launch(stream, std::array{sum, term}, std::array{sum}, adder.workspace->data());
  }
  stream.copy(sum.data, to + offset, bytes);
}

}  // namespace bench
