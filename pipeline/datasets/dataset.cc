#include "pipeline/datasets/dataset.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "models/base/dataset_sizes.h"
#include "models/base/errors.h"
#include "pipeline/datasets/cifar10.h"
#include "pipeline/stages/shard_list.h"

namespace bench {
namespace {

std::vector<std::string> find_imagenet_files(const std::string& data_dir, bool training) {
  return find_shards(data_dir, shard_prefix(training));
}

constexpr std::array kDatasets = {
    Dataset{.name = "imagenet",
            .training_examples = kImagenetTrainingImages,
            .validation_examples = 50000,
            .num_classes = 1001,
            .channels = 3,
            .background_label = true,
            .format = "tfrecord",
            .find_files = find_imagenet_files,
            .make_input = make_imagenet_input},
    Dataset{.name = "cifar10",
            .training_examples = kCifarTrainingImages,
            .validation_examples = 10000,
            .num_classes = 11,
            .channels = 3,
            .format = "cifar10_bin",
            .find_files = find_cifar10_files,
            .make_input = make_cifar10_input},
    Dataset{.name = "librispeech", .training_examples = 2, .validation_examples = 2},
    Dataset{.name = "coco",
            .training_examples = 118287,
            .validation_examples = 4952,
            .num_classes = 81,
            .channels = 3},
};

std::string names() {
  std::string out;
  for (const Dataset& dataset : kDatasets) {
    if (!out.empty()) {
      out += ", ";
    }
    out += dataset.name;
  }
  return out;
}

void require_built(const Dataset& dataset) {
  if (dataset.make_input == nullptr) {
    throw UsageError(fmt::format(
        "--data_dir: real data of {} is not built yet; omit this flag to use synthetic data, "
        "or name another dataset with --data_name",
        dataset.name));
  }
}

}  // namespace

std::span<const Dataset> datasets() { return kDatasets; }

const Dataset& dataset_named(std::string_view name) {
  const auto* found = std::find_if(kDatasets.begin(), kDatasets.end(),
                                   [name](const Dataset& row) { return row.name == name; });
  if (found == kDatasets.end()) {
    throw UsageError(fmt::format("--data_name={}: unknown value; accepted: {}", name, names()));
  }
  return *found;
}

void check_data_folder(const std::string& data_dir) {
  std::string built;
  for (const Dataset& dataset : kDatasets) {
    if (dataset.make_input != nullptr) {
      if (!built.empty()) {
        built += " or ";
      }
      built += dataset.name;
    }
  }
  require_folder(data_dir, "the files of " + built);
}

void check_dataset_folder(const Dataset& dataset, const std::string& data_dir, bool training) {
  require_built(dataset);
  dataset.find_files(data_dir, training);
}

std::unique_ptr<InputSource> make_dataset_input(const Dataset& dataset, const InputSpec& spec,
                                                const DatasetOptions& options,
                                                std::shared_ptr<HostAllocator> allocator) {
  require_built(dataset);
  return dataset.make_input(spec, options, std::move(allocator));
}

}  // namespace bench
