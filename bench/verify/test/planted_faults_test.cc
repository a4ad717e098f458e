// Tests what a run's check detects, network by network: every planted fault in every type. The
// default is a few small networks. PLANTED_MODELS=resnet50,cifar10/nasnet in the environment
// selects others, and prints what detected each fault.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>

#include "bench/flags/table.h"
#include "bench/loop/session.h"
#include "bench/loop/test/lone_tower.h"
#include "bench/plan/network.h"
#include "bench/plan/resolve_settings.h"
#include "bench/plan/verified_run.h"
#include "bench/verify/test/planted_faults.h"
#include "kernels/onednn/onednn_backend.h"
#include "kernels/reference/reference_backend.h"
#include "models/base/errors.h"
#include "models/passes/rewrite.h"

namespace bench {
namespace {

RunSettings settings_for(const Model& model, DType dtype, bool training,
                         const PlantedFault& fault) {
  constexpr std::int64_t kBatch = 2;
  ParseResult parsed;
  parsed.flags.model = model.name;
  parsed.flags.data_name = model.dataset;
  parsed.batch = read_batch_request(fmt::format("{}", kBatch));
  parsed.flags.dtype = name_of(dtype);
  parsed.flags.optimizer = fault.optimizer_name;
  parsed.flags.forward_only = !training;
  return resolve_settings(parsed);
}

struct Outcome {
  bool touched = false;
  std::vector<std::string> caught_by;
};

/// Returns true if the fault changes the hash of a model's networks. Both networks are rewritten,
/// because that changes the order of variables and thus the hash.
bool definition_catches(const PlantedFault& fault, const Model& model) {
  DefinedNetworks right = defined_networks(model);
  for (Graph* network : {&right.training, &right.inference}) {
    *network = rewrite(*network, append);
  }
  DefinedNetworks wrong = right;
  for (Graph* network : {&wrong.training, &wrong.inference}) {
    *network = spoiled_network(fault, *network).value_or(*network);
  }
  return definition_of(wrong) != definition_of(right);
}

/// Checks a network with the fault planted. If the fault affects nothing, the check runs only if
/// `always` is set.
Outcome verify_with(const PlantedFault& fault, const RunSettings& settings, Backend& right,
                    bool always = false) {
  const Workload& workload = settings.workload;
  PlantedBackend backend(right, fault);
  const auto network = [&](std::int64_t images) {
    const Graph plain = build_run_network(workload, images);
    return spoiled_network(fault, plain).value_or(plain);
  };
  Outcome outcome;
  outcome.touched = spoiled_network(fault, build_run_network(workload, workload.batch)).has_value();
  if (definition_catches(fault, *workload.model)) {
    outcome.caught_by.emplace_back("definition");
  }
  const auto graph = [&](std::int64_t images) {
    return make_run_graph(settings, backend, network(images));
  };
  LoneTower lone(settings, graph(workload.batch), backend, {.format = settings.execution.format},
                 fingerprint_stimulus(workload).values);
  outcome.touched = outcome.touched || backend.touched() > 0;
  if (!outcome.touched && !always) {
    return outcome;
  }
  try {
    const Verification result = verify_run(verified_run(settings, lone.towers(), graph));
    for (const results::VerifiedNumber& number : result.numbers) {
      if (!number.passed()) {
        outcome.caught_by.push_back(number.name);
      }
    }
  } catch (const InternalError& error) {
    // A removed part may leave a variable without a gradient.
    outcome.caught_by.emplace_back(error.what());
  }
  return outcome;
}

std::vector<const Model*> models() {
  const char* named = std::getenv("PLANTED_MODELS");
  std::vector<const Model*> found;
  for (const Model& model : all_models()) {
    const auto names =
        split_text(named != nullptr ? named : "lenet,cifar10/resnet20,cifar10/alexnet", ',');
    const std::string name =
        fmt::format("{}{}", model.dataset == "imagenet" ? "" : "cifar10/", model.name);
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      found.push_back(&model);
    }
  }
  return found;
}

/// oneDNN, or the slower reference in types that this processor does not support.
std::unique_ptr<Backend> backend_for(DType dtype) {
  auto onednn = make_onednn_backend({.processors = {0}, .pin = false});
  return computes_in(*onednn, dtype) ? std::move(onednn) : make_reference_backend();
}

class PlantedFaults : public testing::TestWithParam<DType> {};

TEST_P(PlantedFaults, AreAllCaught) {
  const auto backend = backend_for(GetParam());
  const bool told = std::getenv("PLANTED_MODELS") != nullptr;
  std::set<std::string_view> touched;
  for (const Model* model : models()) {
    for (const bool training : {true, false}) {
      for (const PlantedFault& fault : planted_faults()) {
        const RunSettings settings = settings_for(*model, GetParam(), training, fault);
        const Outcome outcome = verify_with(fault, settings, *backend);
        const std::string place =
            fmt::format("{} {} {}, {}", model->name, training ? "training" : "inference",
                        name_of(GetParam()), fault.name);
        if (outcome.touched) {
          touched.insert(fault.name);
          EXPECT_FALSE(outcome.caught_by.empty()) << place;
        }
        if (told && outcome.touched) {
          std::cout << place << ": "
                    << (outcome.caught_by.empty() ? "MISSED"
                                                  : fmt::format("{}, {}", outcome.caught_by.size(),
                                                                outcome.caught_by.front()))
                    << std::endl;
        }
      }
    }
  }
  // No small network has a place for the other faults.
  constexpr std::size_t kElsewhere = 5;
  if (!told) {
    EXPECT_GE(touched.size(), planted_faults().size() - kElsewhere);
  }
}

/// No fault, and each mechanism of a fault without any change.
std::vector<PlantedFault> controls() {
  return {{.name = "nothing"},
          {.name = "nothing with rmsprop", .optimizer_name = "rmsprop"},
          {.name = "nothing with adam", .optimizer_name = "adam"},
          {.name = "every node as it was, every output times 1",
           .network = [](Graph& graph, const Node& node, int) { return append(graph, node); },
           .outputs =
               [](const Graph& graph, const Node& node) {
                 const DType first = graph.type(node.outputs[0]).dtype;
                 return is_floating(first) ? std::vector<SpoiledOutput>{{.factor = 1}}
                                           : std::vector<SpoiledOutput>();
               },
           .optimizer = [](OptimizerSettings&) {}},
          {.name = "every kernel with its own attributes",
           .kernel = [](const Graph&, const Node& node) { return node.attributes; }}};
}

TEST_P(PlantedFaults, NothingIsCaughtWhereNoneIsPlanted) {
  const auto backend = backend_for(GetParam());
  for (const Model* model : models()) {
    for (const bool training : {true, false}) {
      for (const PlantedFault& control : controls()) {
        const RunSettings settings = settings_for(*model, GetParam(), training, control);
        EXPECT_THAT(verify_with(control, settings, *backend, true).caught_by, testing::IsEmpty())
            << model->name << (training ? " training, " : " inference, ") << control.name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, PlantedFaults, testing::Values(DType::f32, DType::bf16, DType::f16),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

}  // namespace
}  // namespace bench
