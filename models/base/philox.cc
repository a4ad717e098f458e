#include "models/base/philox.h"

#include <cmath>
#include <numbers>

namespace bench {
namespace {

constexpr std::uint32_t kMultiplier0 = 0xD2511F53;
constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 10;
constexpr std::size_t kBlocks = 64;  ///< Computed together, in vectors.

constexpr std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
constexpr std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32U); }

using Key = std::array<std::uint32_t, 2>;

inline void mix(std::uint32_t& word0, std::uint32_t& word1, std::uint32_t& word2,
                std::uint32_t& word3, const Key& key) {
  const std::uint64_t a = std::uint64_t{kMultiplier0} * word0;
  const std::uint64_t b = std::uint64_t{kMultiplier1} * word2;
  word0 = high(b) ^ word1 ^ key[0];
  word1 = low(b);
  word2 = high(a) ^ word3 ^ key[1];
  word3 = low(a);
}

constexpr Key next_key(const Key& key) { return {key[0] + kWeyl0, key[1] + kWeyl1}; }

/// philox4x32 of kBlocks counters, starting at (first, stream): one array of all blocks per word.
std::array<std::array<std::uint32_t, kBlocks>, 4> philox_blocks(std::uint64_t first,
                                                                std::uint64_t stream, Key key) {
  std::array<std::array<std::uint32_t, kBlocks>, 4> words;
  for (std::size_t i = 0; i < kBlocks; ++i) {
    words[0][i] = low(first + i);
    words[1][i] = high(first + i);
  }
  words[2].fill(low(stream));
  words[3].fill(high(stream));
  for (int round = 0; round < kRounds; ++round, key = next_key(key)) {
    for (std::size_t i = 0; i < kBlocks; ++i) {
      mix(words[0][i], words[1][i], words[2][i], words[3][i], key);
    }
  }
  return words;
}

/// The z such that a standard normal number, truncated at two deviations, is below z with
/// probability p = (k + 1/2) / 2^24. Here k is the upper 24 bits. With x = 2p - 1, which a float
/// holds exactly, z is x times a rational function of 1 - x^2. Its coefficients are a fit of least
/// relative error (6.8e-8, by weighted least squares in f64); rounding in f32 makes that 4e-7.
float truncated_normal_at(std::uint32_t bits) {
  const std::int32_t odd = static_cast<std::int32_t>(bits >> 8U) * 2 + 1 - (1 << 24);
  const float x = static_cast<float>(odd) * 0x1.0p-24F;
  const float s = 1 - x * x;
  const float numerator =
      (((4.38453586F * s + 54.2423898F) * s + 74.4911943F) * s + 24.2564167F) * s + 1.99999986F;
  const float denominator =
      (((10.7060612F * s + 55.2540724F) * s + 52.4260496F) * s + 13.8380271F) * s + 1;
  return x * numerator / denominator;
}

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, Key key) {
  for (int round = 0; round < kRounds; ++round, key = next_key(key)) {
    mix(counter[0], counter[1], counter[2], counter[3], key);
  }
  return counter;
}

std::uint64_t hash_name(std::string_view name) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  }
  return hash;
}

std::uint32_t RandomStream::bits() {
  if (left_ == 0) {
    words_ = philox4x32({low(block_), high(block_), low(stream_), high(stream_)},
                        {low(seed_), high(seed_)});
    ++block_;
    left_ = kBlockWords;
  }
  return words_[kBlockWords - left_--];
}

float RandomStream::uniform() { return static_cast<float>(bits() >> 8U) * 0x1.0p-24F; }

std::uint32_t RandomStream::below(std::uint32_t bound) {
  // Lemire, "Fast random integer generation in an interval" (2019).
  std::uint64_t product = std::uint64_t{bits()} * bound;
  const std::uint32_t threshold = (0U - bound) % bound;
  while (low(product) < threshold) {
    product = std::uint64_t{bits()} * bound;
  }
  return high(product);
}

float RandomStream::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  const float radius = std::sqrt(-2.0F * std::log(1.0F - uniform()));
  const float angle = 2.0F * std::numbers::pi_v<float> * uniform();
  spare_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

float RandomStream::truncated_normal() { return truncated_normal_at(bits()); }

void RandomStream::truncated_normal(std::span<float> values) {
  constexpr std::size_t kBatch = kBlockWords * kBlocks;
  while (left_ > 0 && !values.empty()) {
    values.front() = truncated_normal();
    values = values.subspan(1);
  }
  for (; values.size() >= kBatch; values = values.subspan(kBatch)) {
    const auto words = philox_blocks(block_, stream_, {low(seed_), high(seed_)});
    block_ += kBlocks;
    for (std::size_t i = 0; i < kBlocks; ++i) {
      for (std::size_t word = 0; word < kBlockWords; ++word) {
        values[kBlockWords * i + word] = truncated_normal_at(words[word][i]);
      }
    }
  }
  for (float& value : values) {
    value = truncated_normal();
  }
}

}  // namespace bench
