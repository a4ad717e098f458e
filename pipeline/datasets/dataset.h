#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/input.h"

namespace bench {

/// One row of the dataset table.
struct Dataset {
  using MakeInput = std::unique_ptr<InputSource> (*)(const InputSpec&, const DatasetOptions&,
                                                     std::shared_ptr<HostAllocator>);

  std::string_view name;
  std::int64_t training_examples = 0;
  std::int64_t validation_examples = 0;
  std::int32_t num_classes = 0;
  std::int64_t channels = 0;
  /// True if the files' labels count from 1, so that 0, the background, never occurs.
  bool background_label = false;
  std::string_view format = {};  ///< of the files, for the run's record
  /// The images are always scaled on the host, and so need f32 slots.
  bool needs_f32_slots = false;
  /// Throws UsageError unless the folder has files of the subset.
  void (*check_files)(const DatasetOptions&) = nullptr;
  /// See data_files().
  std::vector<std::string> (*list_files)(const DatasetOptions&) = nullptr;
  /// See record_memory().
  std::size_t (*record_memory)(const DatasetOptions&, bool several_processes) = nullptr;
  MakeInput make_input = nullptr;  ///< null: there are only synthetic data

  [[nodiscard]] std::int64_t examples(bool training) const {
    return training ? training_examples : validation_examples;
  }
};

/// All datasets, also those with only synthetic data.
std::span<const Dataset> datasets();

/// Returns the dataset of that name; throws UsageError that lists the accepted names.
const Dataset& dataset_named(std::string_view name);

/// Throws UsageError unless `data_dir` is a folder; does not look inside.
void check_data_folder(const std::string& data_dir);

/// The format of the files in the folder: that of the dataset, or jpeg_files for a folder per
/// class.
std::string_view data_format(const Dataset& dataset, const DatasetOptions& options);

/// Throws the UsageError that make_dataset_input would throw for a missing or empty folder or for a
/// dataset with only synthetic data. Opens no files.
void check_dataset_folder(const Dataset& dataset, const DatasetOptions& options);

/// The files of a subset, in order. Throws UsageError if it finds nothing.
std::vector<std::string> data_files(const Dataset& dataset, const DatasetOptions& options);

/// The memory for the records that the input of one process keeps: its shuffle buffer or its cache.
/// The size of the buffer's records is that of the first ones in some files. What cannot be read
/// counts as empty.
std::size_t record_memory(const Dataset& dataset, const DatasetOptions& options,
                          bool several_processes);

/// Returns the dataset's input; throws UsageError if there are only synthetic data.
std::unique_ptr<InputSource> make_dataset_input(const Dataset& dataset, const InputSpec& spec,
                                                const DatasetOptions& options,
                                                std::shared_ptr<HostAllocator> allocator = nullptr);

}  // namespace bench
