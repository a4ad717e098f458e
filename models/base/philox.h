#pragma once

#include <array>
#include <cstdint>
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
  explicit RandomStream(std::uint64_t seed, std::uint64_t stream = 0)
      : seed_(seed), stream_(stream) {}

  /// 32 random bits.
  std::uint32_t bits();
  /// Uniform in [0, 1), 24 bits of resolution.
  float uniform();
  /// Uniform integer in [0, bound), without modulo bias. `bound` > 0.
  std::uint32_t below(std::uint32_t bound);
  /// Standard normal (Box-Muller).
  float normal();
  /// Standard normal cut at two standard deviations, by rejection.
  float truncated_normal();

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
  std::uint64_t block_ = 0;
  std::array<std::uint32_t, 4> words_{};
  int left_ = 0;
  float spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace bench
