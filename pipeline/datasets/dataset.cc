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
  void check_##word##_files(const DatasetOptions&);                                         \
  std::size_t word##_record_memory(const DatasetOptions&, bool);                            \
  std::vector<std::string> list_##word##_files(const DatasetOptions&);                      \
  std::unique_ptr<InputSource> make_##word##_input(const InputSpec&, const DatasetOptions&, \
                                                   std::shared_ptr<HostAllocator>);
#define BENCH_SYNTHETIC_DATASET(dataset, ...)
#include "pipeline/datasets/datasets.inc"
#undef BENCH_DATASET
#undef BENCH_SYNTHETIC_DATASET

namespace {

#define BENCH_DATASET(dataset, word, ...)        \
  Dataset{.name = dataset,                       \
          __VA_ARGS__,                           \
          .check_files = check_##word##_files,   \
          .list_files = list_##word##_files,     \
          .record_memory = word##_record_memory, \
          .make_input = make_##word##_input},
#define BENCH_SYNTHETIC_DATASET(dataset, ...) Dataset{.name = dataset, __VA_ARGS__},
constexpr auto kDatasets = std::to_array<Dataset>({
#include "pipeline/datasets/datasets.inc"
});
#undef BENCH_DATASET
#undef BENCH_SYNTHETIC_DATASET

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
        "--data_dir: real data of {} is not supported yet; omit this flag to use synthetic data, "
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

std::string_view data_format(const Dataset& dataset, const DatasetOptions& options) {
  const bool without_shards = dataset.format == "tfrecord" &&
                              list_shards(options.data_dir, shard_prefix(options.training)).empty();
  return without_shards ? "jpeg_files" : dataset.format;
}

void check_dataset_folder(const Dataset& dataset, const DatasetOptions& options) {
  require_built(dataset);
  dataset.check_files(options);
}

std::vector<std::string> data_files(const Dataset& dataset, const DatasetOptions& options) {
  return dataset.list_files != nullptr ? dataset.list_files(options) : std::vector<std::string>();
}

std::size_t record_memory(const Dataset& dataset, const DatasetOptions& options,
                          bool several_processes) {
  return dataset.record_memory != nullptr ? dataset.record_memory(options, several_processes) : 0;
}

std::unique_ptr<InputSource> make_dataset_input(const Dataset& dataset, const InputSpec& spec,
                                                const DatasetOptions& options,
                                                std::shared_ptr<HostAllocator> allocator) {
  require_built(dataset);
  return dataset.make_input(spec, options, std::move(allocator));
}

}  // namespace bench
