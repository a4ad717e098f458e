#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

/// Philox4x32-10, the counter-based generator of Salmon et al. ("Parallel random numbers: as easy
/// as 1, 2, 3", SC 2011). The same (key, counter) gives the same four words on every machine and
/// thread.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

/// A 64-bit hash of a name (FNV-1a), which gives each variable or purpose a separate stream.
std::uint64_t hash_name(std::string_view name);

/// The random numbers of one stream. Each draw depends only on (seed, stream, position), not on
/// threads, towers or placement. Copies continue independently.
class RandomStream {
 public:
  /// Words that one counter yields.
  static constexpr std::size_t kBlockWords = 4;

  explicit RandomStream(std::uint64_t seed, std::uint64_t stream = 0)
      : seed_(seed), stream_(stream) {}

  /// Skips `count` * kBlockWords words. Only valid before the first draw.
  void skip_blocks(std::uint64_t count) { block_ += count; }
  /// 32 random bits.
  std::uint32_t bits();
  /// Uniform in [0, 1), with 24 bits of resolution.
  float uniform();
  /// Uniform integer in [0, bound), without modulo bias. `bound` > 0.
  std::uint32_t below(std::uint32_t bound);
  /// Standard normal (Box-Muller): two words give two numbers.
  float normal();
  /// Standard normal truncated at two standard deviations. Uses one word per number and inverts the
  /// distribution function, to 5e-7 of the value.
  float truncated_normal();
  /// The same numbers as repeated single draws, but faster.
  void truncated_normal(std::span<float> values);

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
  std::uint64_t block_ = 0;
  std::array<std::uint32_t, kBlockWords> words_{};
  std::size_t left_ = 0;
  float spare_ = 0;
  bool has_spare_ = false;
};

/// Puts the items into a random order, each with the same probability (Fisher and Yates).
template <class T>
void shuffle(std::vector<T>& items, RandomStream& random) {
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], items[random.below(static_cast<std::uint32_t>(i))]);
  }
}

}  // namespace bench
