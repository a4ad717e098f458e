#include "models/zoo/zoo.h"

#include <algorithm>
#include <array>

#include "models/base/errors.h"
#include "models/ir/op.h"
#include "models/ops/loss.h"
#include "models/zoo/builder.h"

namespace bench {

#define BENCH_MODEL(name, printed, dataset, size, batch, parameters, macs, rate, build) \
  ValueId build(NetworkBuilder&, ValueId);
#include "models/zoo/zoo.inc"
#undef BENCH_MODEL

std::span<const Model> all_models() {
  static constexpr std::array kModels{
#define BENCH_MODEL(name, printed, dataset, size, batch, parameters, macs, rate, build) \
  Model{name, printed, dataset, size, batch, parameters, macs, ModelRate::rate, build},
#include "models/zoo/zoo.inc"
#undef BENCH_MODEL
  };
  return kModels;
}

const Model* find_model(std::string_view name) {
  const auto models = all_models();
  const auto found = std::find_if(models.begin(), models.end(),
                                  [&](const Model& model) { return model.name == name; });
  return found == models.end() ? nullptr : &*found;
}

Graph build_network(const Model& model, const NetworkOptions& options) {
  Graph graph;
  const ValueId images = graph.add_input(
      "images",
      {.dtype = DType::f32, .shape = {options.batch, 3, model.image_size, model.image_size}});
  NetworkBuilder builder(graph, options.training, options.seed);
  const ValueId features = model.build(builder, images);
  const ValueId logits = builder.fully_connected("fc", features, options.num_classes, /*gain=*/1);
  graph.set_output("logits", logits);
  if (!options.training && !options.accuracies) {
    return graph;
  }
  const ValueId labels = graph.add_input("labels", {.dtype = DType::s32, .shape = {options.batch}});
  if (options.training) {
    graph.set_output("loss", graph.add_node(kSoftmaxCrossEntropy, "loss", {}, {logits, labels})[0]);
    std::vector<ValueId> decayed;
    for (const Variable& variable : graph.variables()) {
      if (variable.decayed) {
        decayed.push_back(variable.value);
      }
    }
    graph.set_output("l2_loss",
                     graph.add_node(kL2Loss, "l2_loss", L2LossAttributes{options.weight_decay},
                                    std::move(decayed))[0]);
  }
  if (options.accuracies) {
    for (const std::int64_t k : {1, 5}) {
      const std::string name = cat("top_", k);
      graph.set_output(name,
                       graph.add_node(kTopKAccuracy, name, TopKAttributes{k}, {logits, labels})[0]);
    }
  }
  return graph;
}

}  // namespace bench
