#pragma once

#include <memory>
#include <vector>

#include "bench/plan/settings.h"
#include "kernels/executor.h"
#include "pipeline/input.h"
#include "variable_mgmt/towers/tower.h"

namespace bench {

/// The dataset file label that maps to the network's class 0. It is 1 if the network has one class
/// fewer than the dataset, because it then has no background class.
std::int32_t first_label(const Workload& workload);

/// What the run's model reads besides images and labels: the inputs of a NumberModel, or what its
/// evaluation compares with. Real numbers are f32; a tower widens them for f64.
std::vector<ExampleInput> number_inputs(const Workload& workload);

/// The layout in which the network reads images; NCHW if it reads none.
Layout image_layout(const Workload& workload, const Executor& executor);

/// Feeds a tower the examples of a batch from number `first` on.
void feed_examples(Tower& tower, const InputBatch& batch, std::size_t first = 0);

/// Makes the input of the run: batches for all towers, from synthetic data, the dataset or a file.
/// Images have the plan's layout ("nchw" or "nhwc"), or are pixels if the settings ask for them.
/// Batches are allocated by `allocator`, or in ordinary memory if it is null. `watch` receives the
/// progress of synthetic images. Throws UsageError or DataError if the data cannot be used.
std::unique_ptr<InputSource> make_run_input(const RunSettings& settings, const Layout& images,
                                            const Watch& watch = {},
                                            const std::shared_ptr<HostAllocator>& allocator = {});

}  // namespace bench
