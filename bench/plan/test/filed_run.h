#pragma once

#include <memory>
#include <string>

#include "bench/plan/network.h"
#include "bench/plan/tensor_files.h"
#include "kernels/reference/reference_backend.h"
#include "models/base/test/scratch_folder.h"
#include "models/zoo/builder.h"
#include "variable_mgmt/towers/tower.h"

namespace bench {

inline ValueId build_filed(NetworkBuilder& net, ValueId images) {
  ValueId x = net.conv("conv", images, {.channels = 2, .window = {.kernel = 1}});
  x = net.batch_norm("bn", x, {.scale = true});
  return net.head(net.spatial_mean("mean", x));
}

inline constexpr Model kFiled{.name = "tiny",
                              .printed_name = "tiny",
                              .dataset = "imagenet",
                              .image_size = 2,
                              .default_batch = 2,
                              .rate = ModelRate::constant,
                              .build = build_filed};

/// A run of the tiny network on the reference backend, with files in a scratch folder.
struct FiledRun {
  ScratchFolder folder = {};
  RunSettings settings = {};
  std::unique_ptr<Backend> backend = make_reference_backend();

  FiledRun() {
    settings.workload.model = &kFiled;
    settings.workload.dataset = &dataset_named("imagenet");
    settings.execution.device = RunDevice::reference;
    settings.workload.batch = 2;
    settings.workload.image_size = 2;
    settings.workload.num_classes = 4;
    settings.workload.optimizer.weight_decay = 0.25;
  }

  [[nodiscard]] std::string path(const char* name) const { return folder.path() / name; }
  [[nodiscard]] Graph network() const {
    return build_run_network(settings.workload, settings.workload.batch);
  }
  [[nodiscard]] RunTensorFiles files() const { return {settings, network()}; }
  [[nodiscard]] std::unique_ptr<Tower> tower(const InitialValues& values) const {
    return std::make_unique<Tower>(build_run_graph(settings, *backend, settings.workload.batch),
                                   *backend, ExecutorOptions{}, values);
  }
  /// Zeros, except for the last layer's weights.
  [[nodiscard]] InitialValues values() const {
    InitialValues values = initial_values(network(), 1);
    for (auto& [name, elements] : values) {
      elements.assign(elements.size(), name == "fc.weight" ? 0.5F : 0.0F);
    }
    return values;
  }
};

}  // namespace bench
