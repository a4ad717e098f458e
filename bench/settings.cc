#include "bench/settings.h"

#include "bench/flags_near.h"
#include "bench/flags_resolve.h"
#include "bench/validation.h"
#include "models/base/errors.h"
#include "models/passes/backward.h"
#include "models/passes/fuse.h"

namespace bench {
namespace {

const Model& resolve_model(const Flags& flags, const Dataset& dataset) {
  if (const Model* model = find_model(flags.model, dataset.name)) {
    return *model;
  }
  std::vector<std::string_view> names;
  for (const Model& model : all_models()) {
    if (model.name == flags.model) {
      throw UsageError(cat("--model=", flags.model, " is a network for ", model.dataset,
                           ", the data are ", dataset.name,
                           "; choose them with --data_name=", model.dataset));
    }
    names.push_back(model.name);
  }
  throw unknown_value("model", flags.model, names);
}

DataFormat format_named(std::string_view name) {
  if (name == "NCHW") {
    return DataFormat::nchw;
  }
  return name == "NHWC" ? DataFormat::nhwc : DataFormat::automatic;
}

}  // namespace

RunSettings resolve_settings(const ParseResult& parsed) {
  const Flags& flags = parsed.flags;
  RunSettings settings{.flags = flags};
  settings.dataset = &dataset_named(resolve_data_name(flags));
  settings.model = &resolve_model(flags, *settings.dataset);
  if (flags.data_dir) {
    check_dataset_folder(*settings.dataset, *flags.data_dir, /*training=*/true);
  }
  const Placement placement = resolve_placement(flags, /*gpu_present=*/false);
  settings.device = placement.device;
  const auto given = parsed.given.find("device");
  settings.device_label = given == parsed.given.end() ? placement.device : given->second;
  settings.format = format_named(placement.data_format);
  settings.dtype = flags.dtype == "f64" ? DType::f64 : DType::f32;
  if (settings.dtype == DType::f64 && settings.device != "reference") {
    throw UsageError(
        cat("--dtype=f64: only --device=reference computes in f64, not ", settings.device_label));
  }
  settings.notices = parsed.notices;
  settings.notices.insert(settings.notices.end(), placement.notices.begin(),
                          placement.notices.end());
  settings.batch = flags.batch_size > 0 ? flags.batch_size : settings.model->default_batch;
  settings.image_size = settings.model->image_size;
  const std::int64_t own_classes = settings.model->num_classes > 0
                                       ? settings.model->num_classes
                                       : std::int64_t{settings.dataset->num_classes};
  settings.num_classes = flags.num_classes.value_or(own_classes);
  settings.warmup = plan_warmup({.num_warmup_batches = flags.num_warmup_batches,
                                 .autotune_threshold = flags.autotune_threshold,
                                 .batch_group_size = flags.batch_group_size});
  const std::int64_t examples = settings.dataset->examples(/*training=*/true);
  settings.steps = plan_steps({.num_batches = flags.num_batches,
                               .num_epochs = flags.num_epochs,
                               .examples_per_step = settings.batch,
                               .examples_per_epoch = examples});
  settings.optimizer = {
      .kind = flags.optimizer == "momentum" ? OptimizerKind::momentum : OptimizerKind::sgd,
      .momentum = flags.momentum,
      .weight_decay = flags.weight_decay,
      .clip = flags.gradient_clip,
      .dtype = settings.dtype};
  settings.learning_rate = {
      .model_schedule = settings.model->rate == ModelRate::resnet ? ModelSchedule::kResnetImagenet
                                                                  : ModelSchedule::kConstant,
      .resnet_base = flags.resnet_base_lr.value_or(LearningRateOptions{}.resnet_base),
      .examples_per_step = settings.batch,
      .examples_per_epoch = examples,
      .request = learning_rate_request(flags)};
  return settings;
}

Graph build_run_network(const RunSettings& settings, std::int64_t batch) {
  return build_network(*settings.model,
                       {.batch = batch,
                        .num_classes = settings.num_classes,
                        .image_size = settings.image_size,
                        .dtype = settings.dtype,
                        .training = settings.training(),
                        .accuracies = settings.accuracies(),
                        .weight_decay = settings.flags.weight_decay,
                        .seed = static_cast<std::uint64_t>(settings.flags.tf_random_seed)});
}

Graph build_run_graph(const RunSettings& settings, const Backend& backend, std::int64_t batch) {
  const Graph network = build_run_network(settings, batch);
  const Graph fused = fuse(
      network, [&](const Graph& graph, const Node& node) { return backend.supports(graph, node); });
  return settings.training() ? add_backward(fused, "loss") : fused;
}

}  // namespace bench
