#include "bench/runs/fusion_gains.h"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "bench/plan/network.h"
#include "bench/runs/step_forecast.h"
#include "bench/terminal/text_table.h"
#include "kernels/filtering_backend.h"
#include "kernels/forwarding_backend.h"
#include "kernels/runtime/plan.h"
#include "models/base/errors.h"
#include "models/ops/conv2d.h"

namespace bench {
namespace {

void add_fusions(const OpDef& op, const Epilogue& epilogue, std::vector<std::string>& parts) {
  if (epilogue.bias) parts.push_back(fmt::format("{}: bias", op.name));
  if (epilogue.residual) parts.push_back(fmt::format("{}: residual sum", op.name));
  if (epilogue.activation != ActivationKind::none) {
    parts.push_back(fmt::format("{}: activation", op.name));
  }
}

/// The fusions of a node, such as "conv2d: bias".
std::vector<std::string> fusions_of(const Node& node) {
  std::vector<std::string> parts;
  if (const EpilogueCarrier* const carrier = node.op->epilogue) {
    add_fusions(*node.op, carrier->get(node.attributes), parts);
  }
  if (node.op == &kConv2d) {
    if (const auto& norm = node.attributes.as<Conv2dAttributes>().batch_norm) {
      parts.push_back(fmt::format("{}: sums of the following batch norm (--conv_statistics=false)",
                                  node.op->name));
      add_fusions(kBatchNorm, norm->epilogue, parts);
    }
  }
  if (has_prologue(node)) {
    // The two fusions are always omitted together.
    parts.push_back(fmt::format("{}: batch norm before it (--conv_prologue=false)", kConv2d.name));
  }
  if (node.op == &kBatchNormBackward && node.attributes.as<BatchNormAttributes>().two_gradients) {
    parts.push_back(fmt::format("{}: sum of gradients", node.op->name));
  }
  return parts;
}

/// The same device without one fusion.
class WithoutFusion final : public ForwardingBackend {
 public:
  WithoutFusion(Backend& inner, std::string fusion)
      : ForwardingBackend(inner), fusion_(std::move(fusion)) {}

  [[nodiscard]] Support supports(const Graph& graph, const Node& node) const override {
    const std::vector<std::string> parts = fusions_of(node);
    if (std::find(parts.begin(), parts.end(), fusion_) != parts.end()) {
      return {.yes = false, .why_not = fmt::format("{} is disabled", fusion_)};
    }
    return ForwardingBackend::supports(graph, node);
  }

 private:
  std::string fusion_;
};

/// Removes the kernels that compute a node's epilogue in the same pass, if there are others.
/// Returns true if it removed any.
bool take_epilogues_behind(const Node& node, std::vector<Candidate>& candidates) {
  const auto in_one = [](const Candidate& candidate) { return candidate.intermediate_bytes == 0; };
  const EpilogueCarrier* const carrier = node.op->epilogue;
  const bool fused = carrier != nullptr && !carrier->get(node.attributes).empty();
  return fused && !std::all_of(candidates.begin(), candidates.end(), in_one) &&
         std::erase_if(candidates, in_one) > 0;
}

std::string fixed(double number, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << number;
  return text.str();
}

/// A row per plan.
class GainTable {
 public:
  /// `launches`: the device has launches, so the table shows them.
  GainTable(const RunSettings& settings, bool launches)
      : settings_(settings), launches_(launches), table_(titles(launches, unit().name)) {}

  void add_row(const std::string& title, const Plan& plan) {
    const StepForecast forecast = forecast_of(plan.lowered);
    std::vector<std::string> row{title, fmt::format("{}", forecast.steps)};
    if (launches_) {
      row.push_back(fmt::format("{}", forecast.launches));
    }
    row.insert(row.end(),
               {fixed(forecast.bytes * 1e-9, 2), fixed(forecast.seconds * 1e3, 2),
                fixed(static_cast<double>(images_at_once(settings_) * unit().per_example) /
                          forecast.seconds,
                      1)});
    table_.add_row(std::move(row));
  }

  [[nodiscard]] const TextTable& table() const { return table_; }

 private:
  [[nodiscard]] SpeedUnit unit() const { return settings_.workload.model->unit(); }

  static std::vector<TextTable::Column> titles(bool launches, std::string_view unit) {
    std::vector<TextTable::Column> columns{{.title = "omitted"}, {.title = "nodes", .right = true}};
    if (launches) {
      columns.push_back({.title = "launches", .right = true});
    }
    for (const std::string& title :
         {std::string("GB"), std::string("estimated ms"), fmt::format("estimated {}/sec", unit)}) {
      columns.push_back({.title = title, .right = true});
    }
    return columns;
  }

  const RunSettings& settings_;
  bool launches_;
  TextTable table_;
};

}  // namespace

void print_fusion_gains(const RunSettings& settings, Backend& backend, std::ostream& out) {
  GainTable table(settings, !backend.shares_host_memory());
  const Graph graph = build_run_graph(settings, backend, images_at_once(settings));
  table.add_row("nothing", Plan(graph, backend, settings.execution.lowering()));
  std::set<std::string> fusions;
  for (const Node& node : graph.nodes()) {
    for (std::string& fusion : fusions_of(node)) {
      fusions.insert(std::move(fusion));
    }
  }
  for (const std::string& fusion : fusions) {
    WithoutFusion without(backend, fusion);
    table.add_row(fusion, Plan(build_run_graph(settings, without, images_at_once(settings)),
                               without, settings.execution.lowering()));
  }
  bool left_out = false;
  FilteringBackend behind(backend, [&](const Node& node, std::vector<Candidate>& candidates) {
    left_out = take_epilogues_behind(node, candidates) || left_out;
  });
  const Plan in_parts(graph, behind, settings.execution.lowering());
  if (left_out) {
    table.add_row("one kernel with the epilogue", in_parts);
  }
  out << table.table();
}

}  // namespace bench
