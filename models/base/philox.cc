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

constexpr std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
constexpr std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32U); }

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t a = std::uint64_t{kMultiplier0} * counter[0];
    const std::uint64_t b = std::uint64_t{kMultiplier1} * counter[2];
    counter = {high(b) ^ counter[1] ^ key[0], low(b), high(a) ^ counter[3] ^ key[1], low(a)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
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
    left_ = 4;
  }
  return words_[static_cast<std::size_t>(4 - left_--)];
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

float RandomStream::truncated_normal() {
  float x = normal();
  while (std::abs(x) > 2.0F) {
    x = normal();
  }
  return x;
}

}  // namespace bench
