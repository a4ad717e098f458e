#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "models/passes/quantize.h"

namespace bench {

/// What quantize() does with each node and value of an f32 graph. It holds the nodes that run
/// on quanta, the values wanted as quanta, and their types and scales.
class QuantizePlan {
 public:
  /// `refused` maps the index of each node that must stay in f32 to the reason.
  QuantizePlan(const Graph& graph, const Ranges& ranges,
               const std::map<std::size_t, std::string>& refused);

  /// Returns true if the node runs on quanta. A batch norm only writes them.
  [[nodiscard]] bool is_quantized(std::size_t node) const { return quantized_[node]; }
  [[nodiscard]] bool is_quantized_weight(ValueId id) const { return weights_.count(id) != 0; }
  /// Returns true if any node reads the value as quanta.
  [[nodiscard]] bool is_read_quantized(ValueId id) const { return read_[at(id)] > 0; }
  /// u8 or s8, and the real number that one quantum represents.
  [[nodiscard]] DType dtype(ValueId id) const;
  [[nodiscard]] double scale(ValueId id) const;

 private:
  /// What values with the same scale have in common.
  struct Shared {
    Range range;
    bool non_negative = true;
  };

  void find_non_negative();
  void find_candidates(const std::map<std::size_t, std::string>& refused);
  void choose();
  void share_scales();
  [[nodiscard]] bool may_carry(const Node& node) const;
  [[nodiscard]] bool is_wanted(const Node& node) const;
  [[nodiscard]] std::size_t root(std::size_t value) const;

  const Graph& graph_;
  const Ranges& ranges_;
  std::vector<int> uses_;
  /// By value: true if no number below 0 can occur.
  std::vector<bool> non_negative_;
  /// By node: true if it could run on quanta, and true if it does. A batch norm only writes them.
  std::vector<bool> candidate_;
  std::vector<bool> quantized_;
  /// By value: how many inputs of nodes read it as quanta.
  std::vector<int> read_;
  std::set<ValueId> weights_;
  /// By value: another value with the same scale, up to one that represents them all. By that
  /// value: what they have in common.
  std::vector<std::size_t> same_scale_;
  std::map<std::size_t, Shared> shared_;
};

}  // namespace bench
