#pragma once

#include <memory>

#include "pipeline/datasets/imagenet_files.h"
#include "pipeline/stages/batch_loader.h"

namespace bench {

/// Batches of the files' records, in the order that the options ask for, prepared by workers.
std::unique_ptr<InputSource> load_samples(const InputSpec& spec, const DatasetOptions& options,
                                          const ImagenetFiles& files,
                                          const BatchLoader::MakeWorker& make_worker,
                                          std::shared_ptr<HostAllocator> allocator);

}  // namespace bench
