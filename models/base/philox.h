#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace bench {

/// Philox4x32-10, the counter-based generator of Salmon et al., "Parallel random numbers: as easy
/// as 1, 2, 3" (SC 2011): the same (key, counter) gives the same four words on every machine and
/// thread.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

/// A 64-bit hash of a name (FNV-1a), to make a stream of its own for each variable or purpose.
std::uint64_t hash_name(std::string_view name);

/// The random numbers of one stream: (seed, stream, position) determine every draw, so that
/// threads, towers and placement cannot change them. Copies continue independently.
class RandomStream {
 public:
  /// Words that one counter gives.
  static constexpr std::size_t kBlockWords = 4;

  explicit RandomStream(std::uint64_t seed, std::uint64_t stream = 0)
      : seed_(seed), stream_(stream) {}

  /// Leaves out so many times kBlockWords words, of a stream of which none was taken yet.
  void skip_blocks(std::uint64_t count) { block_ += count; }
  /// 32 random bits.
  std::uint32_t bits();
  /// Uniform in [0, 1), 24 bits of resolution.
  float uniform();
  /// Uniform integer in [0, bound), without modulo bias. `bound` > 0.
  std::uint32_t below(std::uint32_t bound);
  /// Standard normal (Box-Muller): two words give two numbers.
  float normal();
  /// Standard normal cut at two standard deviations, of one word each: the inverse of its
  /// distribution function, to 5e-7 of its value.
  float truncated_normal();
  /// The same numbers as one by one, quicker.
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

}  // namespace bench
