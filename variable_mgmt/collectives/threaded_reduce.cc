#include "variable_mgmt/collectives/threaded_reduce.h"

#include <algorithm>
#include <vector>

namespace bench {
namespace {

void reduce_part(const ReduceArgs& args, std::size_t begin, std::size_t count) {
  const std::size_t offset = begin * size_of(args.dtype);
  std::vector<const void*> sources(args.sources.begin(), args.sources.end());
  std::vector<void*> targets(args.targets.begin(), args.targets.end());
  std::transform(sources.begin(), sources.end(), sources.begin(), [offset](const void* memory) {
    return static_cast<const std::byte*>(memory) + offset;
  });
  std::transform(targets.begin(), targets.end(), targets.begin(),
                 [offset](void* memory) { return static_cast<std::byte*>(memory) + offset; });
  reduce({.dtype = args.dtype, .count = count, .sources = sources, .targets = targets});
}

}  // namespace

void reduce_by(const HostThreads& threads, const ReduceArgs& args) {
  // With fewer elements per thread, waking another thread costs more than it saves.
  constexpr std::size_t kGrain = std::size_t{1} << 14;
  if (threads.count == 1 || args.count < 2 * kGrain) {
    reduce(args);
    return;
  }
  const auto count = static_cast<std::size_t>(threads.count);
  threads.run([&](int thread) {
    const auto bound = [&](std::size_t part) {
      constexpr std::size_t kLine = 64;
      return part == count ? args.count : args.count * part / count / kLine * kLine;
    };
    const auto part = static_cast<std::size_t>(thread);
    reduce_part(args, bound(part), bound(part + 1) - bound(part));
  });
}

}  // namespace bench
