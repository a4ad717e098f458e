#include "bench/runs/listing.h"

#include <ostream>
#include <sstream>

#include "bench/plan/device.h"
#include "bench/plan/graph_counts.h"
#include "bench/plan/network.h"
#include "bench/terminal/text_table.h"
#include "models/base/errors.h"
#include "models/ir/op.h"
#include "models/passes/backward.h"
#include "models/passes/decompose.h"
#include "models/passes/fuse.h"

namespace bench {
namespace {

constexpr std::int64_t kSmallBatch = 2;

/// The default settings of a run of the model.
RunSettings settings_of(const Model& model) {
  RunSettings settings;
  settings.workload.model = &model;
  settings.workload.dataset = &dataset_named(model.dataset);
  settings.workload.image_size = model.image_size;
  settings.workload.num_classes = own_classes(model, *settings.workload.dataset);
  return settings;
}

std::string gigaflops(const Graph& forward, std::int64_t batch) {
  const auto images = static_cast<double>(batch);
  return fmt::format("{:.4f}", 2 * static_cast<double>(multiply_adds(forward)) / images / 1e9);
}

std::string text_of(const Shape& shape) {
  std::ostringstream text;
  text << shape;
  return text.str();
}

std::string devices_for(const Model& model, std::span<const ListedDevice> devices) {
  std::string able;
  std::string unable;
  for (const ListedDevice& device : devices) {
    const std::string reason = why_not(model, device.supports);
    if (reason.empty()) {
      able += fmt::format("{}{}", able.empty() ? "" : " ", device.name);
    } else {
      unable += fmt::format("{}not {}: {}", unable.empty() ? "" : "; ", device.name, reason);
    }
  }
  return able.empty() || unable.empty() ? able + unable : fmt::format("{}; {}", able, unable);
}

}  // namespace

std::string why_not(const Model& model, const SupportQuery& supports) {
  const Graph network = build_run_network(settings_of(model).workload, kSmallBatch);
  const Graph graph =
      decompose_unsupported(add_backward(fuse(network, supports), "loss"), supports);
  for (const Node& node : graph.nodes()) {
    if (const Support support = supports(graph, node); !support) {
      return support.why_not;
    }
  }
  return "";
}

void list_models(std::ostream& out, std::span<const ListedDevice> devices) {
  TextTable table({{.title = "model"},
                   {.title = "dataset"},
                   {.title = "size", .right = true},
                   {.title = "batch", .right = true},
                   {.title = "parameters", .right = true},
                   {.title = "GFLOP/example", .right = true},
                   {.title = "devices"}});
  for (const Model& model : all_models()) {
    RunSettings settings = settings_of(model);
    settings.workload.mode = RunMode::forward_only;
    const Graph forward = build_run_network(settings.workload, kSmallBatch);
    table.add_row(
        {std::string(model.name), std::string(model.dataset),
         fmt::format("{}", model.reads_images() ? model.image_size : model.unit().per_example),
         fmt::format("{}", model.default_batch),
         fmt::format("{}", count_variables(forward).trained.scalars),
         gigaflops(forward, kSmallBatch), devices_for(model, devices)});
  }
  out << table;
}

void list_models(std::ostream& out) {
  const std::vector<NamedBackend> backends = make_all_backends();
  std::vector<ListedDevice> devices;
  for (const NamedBackend& named : backends) {
    devices.push_back(
        {.name = named.name,
         .supports = [&backend = *named.backend](const Graph& graph, const Node& node) {
           return backend.supports(graph, node);
         }});
  }
  list_models(out, devices);
}

void list_variables(std::ostream& out, const Workload& workload) {
  const Graph network = build_run_network(workload, kSmallBatch);
  TextTable table(
      {{.title = "variable"}, {.title = "shape"}, {.title = "trained"}, {.title = "in L2 sum"}});
  const auto yes_or_no = [](bool value) { return value ? "yes" : "no"; };
  for (const Variable& variable : network.variables()) {
    table.add_row({network.value(variable.value).name, text_of(network.shape(variable.value)),
                   yes_or_no(variable.trainable()), yes_or_no(variable.decayed())});
  }
  out << table;
  const VariableCounts counts = count_variables(network);
  const auto print = [&](const char* label, const VariableCounts::Count& count) {
    out << label << count.variables << " with " << count.scalars << " scalars";
  };
  print("total: ", counts.all);
  print("; trained: ", counts.trained);
  print("; in L2 sum: ", counts.decayed);
  out << '\n';
}

}  // namespace bench
