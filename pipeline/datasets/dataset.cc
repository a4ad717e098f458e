#include "pipeline/datasets/dataset.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "models/base/dataset_sizes.h"
#include "models/base/errors.h"
#include "pipeline/stages/shard_list.h"

namespace bench {

#define BENCH_DATASET(dataset, word, ...)                                                   \
  std::vector<std::string> find_##word##_files(const std::string&, bool);                   \
  std::unique_ptr<InputSource> make_##word##_input(const InputSpec&, const DatasetOptions&, \
                                                   std::shared_ptr<HostAllocator>);
#define BENCH_KNOWN_DATASET(dataset, ...)
#include "pipeline/datasets/datasets.inc"
#undef BENCH_DATASET
#undef BENCH_KNOWN_DATASET

namespace {

#define BENCH_DATASET(dataset, word, ...)    \
  Dataset{.name = dataset,                   \
          __VA_ARGS__,                       \
          .find_files = find_##word##_files, \
          .make_input = make_##word##_input},
#define BENCH_KNOWN_DATASET(dataset, ...) Dataset{.name = dataset, __VA_ARGS__},
constexpr auto kDatasets = std::to_array<Dataset>({
#include "pipeline/datasets/datasets.inc"
});
#undef BENCH_DATASET
#undef BENCH_KNOWN_DATASET

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
