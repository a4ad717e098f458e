#include "pipeline/datasets/load_samples.h"

#include <algorithm>
#include <utility>

#include "models/base/threads.h"
#include "pipeline/stages/sample_order.h"
#include "pipeline/stages/shard_list.h"

namespace bench {
namespace {

int threads_to_use(int asked) { return asked > 0 ? asked : usable_processors(); }

/// Records that are read one by one need several readers, because each read takes time.
constexpr int kSingleReaders = 4;

}  // namespace

std::unique_ptr<InputSource> load_samples(const InputSpec& spec, const DatasetOptions& options,
                                          const ImagenetFiles& files,
                                          const BatchLoader::MakeWorker& make_worker,
                                          std::shared_ptr<HostAllocator> allocator) {
  const bool sees_all = spec.batch == spec.images_of_all();
  // A cache holds all images, because a process gets different ones in each epoch.
  const bool load_all =
      sees_all || options.use_caching || options.repeat_cached_sample || files.compressed;
  // A cache and a repeated record are made in the first epoch, wherever the run continues.
  const bool keeps_first = options.use_caching || options.repeat_cached_sample;
  const std::int64_t records = files.record_count();
  const auto make_order = [files, options, sees_all, load_all, keeps_first, records,
                           seed = spec.seed, start = spec.start](ReaderPool* readers) {
    const InputPosition first = keeps_first ? InputPosition{} : start;
    auto stream = stream_imagenet_files(
        files,
        {.seed = seed,
         .shuffle_files = options.training,
         .cycle_length = options.interleave_cycle,
         .sloppy = options.sloppy_interleave && sees_all,
         .load = load_all,
         .skip_bad_files = options.bad_records.skip,
         .readers = readers,
         .first_epoch = static_cast<std::uint64_t>(first.epoch),
         .without_bytes = files.compressed ? 0 : static_cast<std::uint64_t>(first.index)},
        options);
    // Records that are not read yet are shuffled as a whole.
    const std::int64_t shuffled =
        std::max<std::int64_t>(options.shuffle_buffer, options.use_caching ? 0 : records);
    return std::make_unique<SampleOrder>(
        std::move(stream), static_cast<std::size_t>(options.training ? shuffled : 1), seed, start);
  };
  const int usual_readers = records > 0 ? kSingleReaders : 1;
  return std::make_unique<BatchLoader>(
      LoaderOptions{.batch = spec.batch,
                    .global_batch = spec.global_batch,
                    .first_image = spec.first_image,
                    .image_elements = spec.channels * spec.height * spec.width,
                    .type = spec.type,
                    .numbers = spec.numbers,
                    .num_threads = threads_to_use(options.num_threads),
                    .num_slots = options.prefetch_batches,
                    .num_readers = options.num_readers > 0 ? options.num_readers : usual_readers,
                    .shards = files.shards.empty() ? records : std::ssize(files.shards),
                    .shard_bytes = total_bytes(files.shards),
                    .records = records,
                    .bad_records = options.bad_records},
      make_order, make_worker, allocator != nullptr ? std::move(allocator) : make_host_allocator());
}

}  // namespace bench
