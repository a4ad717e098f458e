#include "variable_mgmt/collectives/packing.h"

#include <algorithm>
#include <numeric>

#include "models/base/errors.h"

namespace bench {

ExtractedRanges extract_ranges(std::span<const std::size_t> indices, std::size_t limit) {
  ExtractedRanges extracted;
  const auto close = [&](const IndexRange& range) {
    if (range.last > range.first) {
      extracted.ranges.push_back(range);
    } else {
      extracted.singles.push_back(range.first);
    }
  };
  if (indices.empty()) {
    return extracted;
  }
  IndexRange range{.first = indices.front(), .last = indices.front()};
  for (const std::size_t index : indices.subspan(1)) {
    if (index == range.last + 1 && range.last - range.first <= limit) {
      range.last = index;
    } else {
      close(range);
      range = {.first = index, .last = index};
    }
  }
  close(range);
  return extracted;
}

std::size_t elements_of(const Pack& pack) {
  return std::accumulate(pack.begin(), pack.end(), std::size_t{0},
                         [](std::size_t sum, const PackedPart& part) { return sum + part.count; });
}

std::vector<Pack> pack_small(std::span<const GradientSize> gradients,
                             const SmallGradients& limits) {
  const bool enabled = limits.max_bytes > 0 && limits.max_group > 0;
  std::vector<std::size_t> small;
  std::vector<std::size_t> alone;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const std::size_t bytes = gradients[i].elements * size_of(gradients[i].dtype);
    const bool fits = enabled && gradients[i].dtype == DType::f32 &&
                      bytes <= static_cast<std::uint64_t>(limits.max_bytes);
    (fits ? small : alone).push_back(i);
  }
  const ExtractedRanges found =
      extract_ranges(small, static_cast<std::size_t>(std::max<std::int64_t>(limits.max_group, 0)));
  alone.insert(alone.end(), found.singles.begin(), found.singles.end());
  std::sort(alone.begin(), alone.end());

  const auto whole = [&](std::size_t tensor) {
    return PackedPart{.tensor = tensor, .begin = 0, .count = gradients[tensor].elements};
  };
  std::vector<Pack> packs;
  for (const IndexRange& range : found.ranges) {
    Pack& pack = packs.emplace_back();
    for (std::size_t i = range.first; i <= range.last; ++i) {
      pack.push_back(whole(i));
    }
  }
  std::transform(alone.begin(), alone.end(), std::back_inserter(packs),
                 [&](std::size_t tensor) { return Pack{whole(tensor)}; });
  return packs;
}

std::vector<Pack> repack(std::span<const GradientSize> gradients, int packs) {
  const std::size_t total = std::accumulate(
      gradients.begin(), gradients.end(), std::size_t{0},
      [](std::size_t sum, const GradientSize& each) { return sum + each.elements; });
  if (packs < 1 || static_cast<std::size_t>(packs) > total) {
    throw UsageError(fmt::format(
        "--gradient_repacking={}: accepted: 1 to {} packs, at most one per gradient element", packs,
        total));
  }
  const std::size_t each = total / static_cast<std::size_t>(packs);
  std::vector<Pack> all;
  std::size_t tensor = 0;
  std::size_t begin = 0;
  for (int number = 1; number <= packs; ++number) {
    std::size_t left = number < packs ? each : total - each * static_cast<std::size_t>(packs - 1);
    Pack& pack = all.emplace_back();
    while (left > 0) {
      const std::size_t count = std::min(left, gradients[tensor].elements - begin);
      if (count > 0) {
        pack.push_back({.tensor = tensor, .begin = begin, .count = count});
      }
      left -= count;
      begin += count;
      if (begin == gradients[tensor].elements) {
        ++tensor;
        begin = 0;
      }
    }
  }
  return all;
}

FlatPiece piece_of(const Pack& pack, std::span<const FlatPiece> gradients, DType dtype) {
  check(!pack.empty(), "packing: an empty pack has no position");
  const std::size_t size = size_of(dtype);
  const auto piece = [&](const PackedPart& part) {
    return FlatPiece{.offset = gradients[part.tensor].offset + part.begin * size,
                     .bytes = part.count * size};
  };
  for (std::size_t i = 1; i < pack.size(); ++i) {
    check(pack[i].tensor == pack[i - 1].tensor + 1 &&
              piece(pack[i - 1]).end() <= piece(pack[i]).offset,
          "packing: the parts are not contiguous in the region");
  }
  const std::size_t offset = piece(pack.front()).offset;
  return {.offset = offset, .bytes = piece(pack.back()).end() - offset};
}

}  // namespace bench
