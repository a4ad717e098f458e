#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/input.h"

namespace bench {

/// A row of the table of datasets.
struct Dataset {
  using MakeInput = std::unique_ptr<InputSource> (*)(const InputSpec&, const DatasetOptions&,
                                                     std::shared_ptr<HostAllocator>);

  std::string_view name;
  std::int64_t training_examples = 0;
  std::int64_t validation_examples = 0;
  std::int32_t num_classes = 0;
  std::int64_t channels = 0;
  /// Whether the files' labels count from 1, so that 0, the background, occurs in none.
  bool background_label = false;
  std::string_view format = {};  ///< of the files, for the record of a run
  /// The subset's files, sorted; throws UsageError when there are none.
  std::vector<std::string> (*find_files)(const std::string& data_dir, bool training) = nullptr;
  MakeInput make_input = nullptr;  ///< null: the name is known, real data are not built yet

  [[nodiscard]] std::int64_t examples(bool training) const {
    return training ? training_examples : validation_examples;
  }
};

/// All datasets, built or not.
std::span<const Dataset> datasets();

/// The dataset of that name; throws UsageError naming those there are.
const Dataset& dataset_named(std::string_view name);

/// Throws UsageError unless `data_dir` is a folder, whatever is in it.
void check_data_folder(const std::string& data_dir);

/// Throws the UsageError that make_dataset_input would for a folder that is missing or holds no
/// files, or for a dataset that is not built yet; opens nothing.
void check_dataset_folder(const Dataset& dataset, const std::string& data_dir, bool training);

/// The dataset's input, or a UsageError saying that it is not built yet.
std::unique_ptr<InputSource> make_dataset_input(const Dataset& dataset, const InputSpec& spec,
                                                const DatasetOptions& options,
                                                std::shared_ptr<HostAllocator> allocator = nullptr);

}  // namespace bench
