#include "models/zoo/zoo.h"

#include <algorithm>
#include <array>

#include "models/base/errors.h"
#include "models/base/text.h"
#include "models/ir/op.h"
#include "models/ops/add.h"
#include "models/ops/loss.h"
#include "models/zoo/builder.h"

namespace bench {
namespace {

constexpr std::int64_t kImageChannels = 3;

struct Classified {
  ValueId logits;
  const NetworkBuilder::AuxLogits& aux;
  ValueId labels;
};

/// The loss with that of the auxiliary logits, if any.
ValueId add_cross_entropy(Graph& graph, const NetworkOptions& options, const Classified& of) {
  const auto cross_entropy = [&](const char* name, ValueId logits, double weight) {
    return graph.add_node(
        kSoftmaxCrossEntropy, name,
        SoftmaxCrossEntropyAttributes{.label_smoothing = options.label_smoothing, .weight = weight},
        {logits, of.labels})[0];
  };
  const ValueId loss = cross_entropy("loss", of.logits, 1);
  if (!of.aux.logits.valid()) {
    return loss;
  }
  const ValueId aux_loss = cross_entropy("aux_loss", of.aux.logits, of.aux.weight);
  return graph.add_node(kAdd, "loss_sum", {}, {loss, aux_loss})[0];
}

void add_l2_loss(Graph& graph, double coefficient) {
  std::vector<ValueId> decayed;
  for (const Variable& variable : graph.variables()) {
    if (variable.decayed()) {
      decayed.push_back(variable.value);
    }
  }
  graph.set_output("l2_loss", graph.add_node(kL2Loss, "l2_loss", L2LossAttributes{coefficient},
                                             std::move(decayed))[0]);
}

}  // namespace

#define BENCH_MODEL(name, printed, dataset, size, batch, classes, rate, build) \
  ValueId build(NetworkBuilder&, ValueId);
#define BENCH_NUMBER_MODEL(name, printed, dataset, size, batch, classes, rate, model) \
  extern const NumberModel model;
#include "models/zoo/zoo.inc"
#undef BENCH_MODEL
#undef BENCH_NUMBER_MODEL

std::span<const Model> all_models() {
  static constexpr std::array kModels{
#define BENCH_MODEL(name, printed, dataset, size, batch, classes, rate, build) \
  Model{name, printed, dataset, size, nullptr, batch, classes, ModelRate::rate, build},
#define BENCH_NUMBER_MODEL(name, printed, dataset, size, batch, classes, rate, model) \
  Model{name, printed, dataset, size, &(model), batch, classes, ModelRate::rate, nullptr},
#include "models/zoo/zoo.inc"
#undef BENCH_MODEL
#undef BENCH_NUMBER_MODEL
  };
  return kModels;
}

const Model* find_model(std::string_view name, std::string_view dataset) {
  const auto models = all_models();
  const auto found = std::find_if(models.begin(), models.end(), [&](const Model& model) {
    return model.name == name && model.dataset == dataset;
  });
  return found == models.end() ? nullptr : &*found;
}

std::string_view listed_model_name(std::string_view name) {
  const auto models = all_models();
  const auto found = std::find_if(models.begin(), models.end(), [&](const Model& model) {
    return equal_in_any_case(model.name, name);
  });
  return found == models.end() ? std::string_view() : found->name;
}

std::vector<ExampleInput> example_inputs(const Model& model, const NetworkOptions& options) {
  std::vector<ExampleInput> inputs;
  if (model.reads_images()) {
    const std::int64_t size = options.image_size > 0 ? options.image_size : model.image_size;
    inputs.push_back(
        {.name = "images", .dtype = options.dtype, .shape = {kImageChannels, size, size}});
  }
  if (model.classifies_images()) {
    // tf_cnn_benchmarks never draws the last class either.
    inputs.push_back({.name = "labels", .bound = options.num_classes - 1});
    return inputs;
  }
  for (ExampleInput& input : model.numbers->inputs(options.num_classes)) {
    input.dtype = input.dtype == DType::s32 ? DType::s32 : options.dtype;
    inputs.push_back(std::move(input));
  }
  return inputs;
}

std::int64_t examples_of(const Graph& network) { return network.shape(network.inputs()[0])[0]; }

Graph build_network(const Model& model, const NetworkOptions& options) {
  Graph graph;
  const std::vector<ExampleInput> inputs = example_inputs(model, options);
  const std::size_t for_loss = model.classifies_images() ? 1 : model.numbers->loss_inputs;
  const auto add_inputs = [&](std::span<const ExampleInput> added) {
    std::vector<ValueId> values;
    for (const ExampleInput& input : added) {
      std::vector<std::int64_t> extents{options.batch};
      extents.insert(extents.end(), input.shape.extents().begin(), input.shape.extents().end());
      values.push_back(
          graph.add_input(input.name, {.dtype = input.dtype, .shape = Shape(extents)}));
    }
    return values;
  };
  const std::vector<ValueId> read = add_inputs(std::span(inputs).first(inputs.size() - for_loss));
  NetworkBuilder builder(graph, {.num_classes = options.num_classes,
                                 .training = options.training,
                                 .aux_head = options.aux_head && options.training,
                                 .seed = options.seed,
                                 .dtype = options.dtype,
                                 .first_image = options.first_image,
                                 .biases_decay = options.biases_decay});
  const ValueId logits = model.classifies_images() ? model.build(builder, read[0])
                                                   : model.numbers->build(builder, read);
  const NetworkBuilder::AuxLogits& aux = builder.aux_logits();
  if (options.aux_head && options.training && !aux.logits.valid()) {
    throw UsageError(
        fmt::format("--aux_head: {} has no auxiliary head; omit this flag", model.name));
  }
  graph.set_output("logits", logits);
  if (!options.training && !options.accuracies) {
    return graph;
  }
  ValueId loss;
  ValueId labels;
  if (model.classifies()) {
    const ExampleInput& labelled = inputs.back();
    labels = graph.add_input(labelled.name, {.dtype = labelled.dtype,
                                             .shape = {options.batch * labelled.shape.elements()}});
    if (options.training) {
      loss = add_cross_entropy(graph, options, {logits, aux, labels});
    }
  } else {
    check(!options.accuracies && options.label_smoothing == 0, "only classes have accuracies");
    loss = model.numbers->loss(builder, logits, add_inputs(std::span(inputs).last(for_loss)));
  }
  if (options.training) {
    graph.set_output("loss", loss);
    if (options.weight_decay != 0) {
      add_l2_loss(graph, options.weight_decay);
    }
  }
  if (options.accuracies) {
    for (const std::int64_t k : {1, 5}) {
      const std::string name = fmt::format("top_{}", k);
      graph.set_output(name,
                       graph.add_node(kTopKAccuracy, name, TopKAttributes{k}, {logits, labels})[0]);
    }
  }
  return graph;
}

}  // namespace bench
