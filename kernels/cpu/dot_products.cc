#include "kernels/cpu/dot_products.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#endif

#include "models/base/errors.h"

namespace bench::cpu {

bool uses_tiles(MultiplyAdd instruction) {
  return instruction == MultiplyAdd::bf16_tiles || instruction == MultiplyAdd::f16_tiles ||
         instruction == MultiplyAdd::byte_tiles;
}

#if defined(__x86_64__)
namespace {

constexpr double kOperations = 2;
/// Sums that do not depend on each other, see peak.cc. They start differently: equal sums would be
/// computed once.
constexpr int kChains = 12;

/// Calls step(sum) for each of the independent sums, which stay in registers: the compiler unrolls
/// the inner loop.
#define BENCH_DOT_LOOP(sums, step)                        \
  for (std::int64_t round = 0; round < rounds; ++round) { \
    _Pragma("GCC unroll 16") for (auto& sum : sums) step; \
  }

__attribute__((target("avx512f,avx512bf16"))) double bf16_pairs(std::int64_t rounds,
                                                                float* result) {
  const auto ones = reinterpret_cast<__m512bh>(_mm512_set1_epi16(0x3F80));
  __m512 sums[kChains];
  for (int i = 0; i < kChains; ++i) sums[i] = _mm512_set1_ps(static_cast<float>(i));
  BENCH_DOT_LOOP(sums, sum = _mm512_dpbf16_ps(sum, ones, ones))
  for (const auto& sum : sums) *result += sum[0];
  return kOperations * kChains * 32 * static_cast<double>(rounds);
}

__attribute__((target("avx512f,avx512vnni"))) double byte_quads(std::int64_t rounds,
                                                                float* result) {
  const __m512i ones = _mm512_set1_epi8(1);
  __m512i sums[kChains];
  for (int i = 0; i < kChains; ++i) sums[i] = _mm512_set1_epi32(i);
  BENCH_DOT_LOOP(sums, sum = _mm512_dpbusd_epi32(sum, ones, ones))
  for (const auto& sum : sums) *result += static_cast<float>(static_cast<std::int32_t>(sum[0]));
  return kOperations * kChains * 64 * static_cast<double>(rounds);
}

__attribute__((target("avx2,avxvnni"))) double byte_quads_256(std::int64_t rounds, float* result) {
  const __m256i ones = _mm256_set1_epi8(1);
  __m256i sums[kChains];
  for (int i = 0; i < kChains; ++i) sums[i] = _mm256_set1_epi32(i);
  BENCH_DOT_LOOP(sums, sum = _mm256_dpbusd_avx_epi32(sum, ones, ones))
  for (const auto& sum : sums) *result += static_cast<float>(static_cast<std::int32_t>(sum[0]));
  return kOperations * kChains * 32 * static_cast<double>(rounds);
}

#undef BENCH_DOT_LOOP

constexpr std::size_t kTileRows = 16;
constexpr std::size_t kTileRowBytes = 64;

/// The operand of LDTILECFG: Intel 64 manual, volume 1, chapter on AMX.
struct alignas(64) TileConfiguration {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::array<std::uint8_t, 14> reserved = {};
  std::array<std::uint16_t, 16> row_bytes = {};
  std::array<std::uint8_t, 16> rows = {};
};
static_assert(sizeof(TileConfiguration) == 64);

/// Tiles 0 to 5 are sums, 6 and 7 the factors.
constexpr int kTiles = 8;
constexpr int kTileSums = 6;

/// A row-major tile.
struct alignas(64) TileData {
  std::array<std::uint8_t, kTileRows* kTileRowBytes> bytes = {};
};

/// Sums of zeros, and factors that repeat a pattern of 16 bits.
__attribute__((target("amx-tile"))) void load_tiles(std::uint16_t pattern) {
  TileConfiguration configuration;
  for (std::size_t i = 0; i < kTiles; ++i) {
    configuration.row_bytes[i] = kTileRowBytes;
    configuration.rows[i] = kTileRows;
  }
  TileData factors;
  for (std::size_t i = 0; i < factors.bytes.size(); i += sizeof pattern) {
    std::memcpy(&factors.bytes[i], &pattern, sizeof pattern);
  }
  _tile_loadconfig(&configuration);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
  _tile_loadd(6, factors.bytes.data(), kTileRowBytes);
  _tile_loadd(7, factors.bytes.data(), kTileRowBytes);
}

/// The first elements of the sums, as numbers of type T.
template <class T>
__attribute__((target("amx-tile"))) float stored_sums() {
  std::array<TileData, kTileSums> stored;
  _tile_stored(0, stored[0].bytes.data(), kTileRowBytes);
  _tile_stored(1, stored[1].bytes.data(), kTileRowBytes);
  _tile_stored(2, stored[2].bytes.data(), kTileRowBytes);
  _tile_stored(3, stored[3].bytes.data(), kTileRowBytes);
  _tile_stored(4, stored[4].bytes.data(), kTileRowBytes);
  _tile_stored(5, stored[5].bytes.data(), kTileRowBytes);
  float sum = 0;
  for (const TileData& tile : stored) {
    T first = 0;
    std::memcpy(&first, tile.bytes.data(), sizeof first);
    sum += static_cast<float>(first);
  }
  return sum;
}

__attribute__((target("amx-tile,amx-int8"))) double byte_tiles(std::int64_t rounds, float* result) {
  load_tiles(0x0101);
  for (std::int64_t round = 0; round < rounds; ++round) {
    _tile_dpbusd(0, 6, 7);
    _tile_dpbusd(1, 6, 7);
    _tile_dpbusd(2, 6, 7);
    _tile_dpbusd(3, 6, 7);
    _tile_dpbusd(4, 6, 7);
    _tile_dpbusd(5, 6, 7);
  }
  *result = stored_sums<std::int32_t>();
  _tile_release();
  return kOperations * kTileSums * kTileRows * kTileRows * kTileRowBytes *
         static_cast<double>(rounds);
}

__attribute__((target("amx-tile,amx-bf16"))) double bf16_tiles(std::int64_t rounds, float* result) {
  load_tiles(0x3F80);
  for (std::int64_t round = 0; round < rounds; ++round) {
    _tile_dpbf16ps(0, 6, 7);
    _tile_dpbf16ps(1, 6, 7);
    _tile_dpbf16ps(2, 6, 7);
    _tile_dpbf16ps(3, 6, 7);
    _tile_dpbf16ps(4, 6, 7);
    _tile_dpbf16ps(5, 6, 7);
  }
  *result = stored_sums<float>();
  _tile_release();
  return kOperations * kTileSums * kTileRows * kTileRows * kTileRowBytes / 2 *
         static_cast<double>(rounds);
}

__attribute__((target("amx-tile"))) double f16_tiles(std::int64_t rounds, float* result) {
  load_tiles(0x3C00);
  for (std::int64_t round = 0; round < rounds; ++round) {
    // TDPFP16PS of tiles 6 and 7 into 0 to 5, as bytes: GCC 12 and older assemblers do not know it.
    asm volatile(
        ".byte 0xC4, 0xE2, 0x43, 0x5C, 0xC6\n\t"
        ".byte 0xC4, 0xE2, 0x43, 0x5C, 0xCE\n\t"
        ".byte 0xC4, 0xE2, 0x43, 0x5C, 0xD6\n\t"
        ".byte 0xC4, 0xE2, 0x43, 0x5C, 0xDE\n\t"
        ".byte 0xC4, 0xE2, 0x43, 0x5C, 0xE6\n\t"
        ".byte 0xC4, 0xE2, 0x43, 0x5C, 0xEE");
  }
  *result = stored_sums<float>();
  _tile_release();
  return kOperations * kTileSums * kTileRows * kTileRows * kTileRowBytes / 2 *
         static_cast<double>(rounds);
}

}  // namespace

void request_tiles() {
  constexpr int kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int kTileData = 18;               // the state component of the tiles
  if (syscall(SYS_arch_prctl, kRequestPermission, kTileData) != 0) {
    throw DeviceError(fmt::format("the system does not permit AMX: {}", std::strerror(errno)));
  }
}

double multiply_add_dot(MultiplyAdd instruction, std::int64_t rounds, float* result) {
  switch (instruction) {
    case MultiplyAdd::bf16_pairs:
      return bf16_pairs(rounds, result);
    case MultiplyAdd::byte_quads:
      return byte_quads(rounds, result);
    case MultiplyAdd::byte_quads_256:
      return byte_quads_256(rounds, result);
    case MultiplyAdd::bf16_tiles:
      return bf16_tiles(rounds, result);
    case MultiplyAdd::f16_tiles:
      return f16_tiles(rounds, result);
    case MultiplyAdd::byte_tiles:
      return byte_tiles(rounds, result);
    case MultiplyAdd::f32:
      break;
  }
  throw InternalError("dot products: f32 has none");
}

#else

void request_tiles() { throw InternalError("dot products: this processor has no tiles"); }

double multiply_add_dot(MultiplyAdd /*instruction*/, std::int64_t /*rounds*/, float* /*result*/) {
  throw InternalError("dot products: this processor has none");
}

#endif

}  // namespace bench::cpu
