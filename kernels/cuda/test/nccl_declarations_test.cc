// Compares our NCCL declarations with its header.
#include <gtest/gtest.h>
#include <nccl.h>

#include <cstddef>
#include <type_traits>

#include "kernels/nccl_library.h"

namespace bench::nccl {
namespace {

static_assert(int{kSuccess} == ncclSuccess && int{kInProgress} == ncclInProgress);
static_assert(int{kFloat16} == ncclFloat16 && int{kFloat32} == ncclFloat32 &&
              int{kFloat64} == ncclFloat64 && int{kBfloat16} == ncclBfloat16);
static_assert(int{kSum} == ncclSum);
static_assert(sizeof(UniqueId) == sizeof(ncclUniqueId) && kIdBytes == NCCL_UNIQUE_ID_BYTES);
static_assert(sizeof(ncclResult_t) == sizeof(int) && sizeof(ncclDataType_t) == sizeof(int) &&
              sizeof(ncclRedOp_t) == sizeof(int));

TEST(NcclDeclarations, HaveTheLayoutOfItsHeader) {
  EXPECT_EQ(offsetof(Config, size), offsetof(ncclConfig_t, size));
  EXPECT_EQ(offsetof(Config, magic), offsetof(ncclConfig_t, magic));
  EXPECT_EQ(offsetof(Config, version), offsetof(ncclConfig_t, version));
  EXPECT_EQ(offsetof(Config, blocking), offsetof(ncclConfig_t, blocking));
  EXPECT_EQ(offsetof(Config, cga_cluster_size), offsetof(ncclConfig_t, cgaClusterSize));
  EXPECT_EQ(offsetof(Config, min_ctas), offsetof(ncclConfig_t, minCTAs));
  EXPECT_EQ(offsetof(Config, max_ctas), offsetof(ncclConfig_t, maxCTAs));
  EXPECT_EQ(offsetof(Config, net_name), offsetof(ncclConfig_t, netName));
  EXPECT_EQ(sizeof(Config), offsetof(ncclConfig_t, splitShare));
  const ncclConfig_t defaults = NCCL_CONFIG_INITIALIZER;
  EXPECT_EQ(Config{}.magic, defaults.magic);
  EXPECT_EQ(Config{}.min_ctas, defaults.minCTAs);
}

/// The function pointer's type, with NCCL's types for ours.
template <class Ours, class Theirs>
constexpr bool kTakesAsMany = false;
template <class R1, class... A1, class R2, class... A2>
constexpr bool kTakesAsMany<R1 (*)(A1...), R2(A2...)> = sizeof...(A1) == sizeof...(A2) &&
                                                        ((sizeof(A1) == sizeof(A2)) && ...);

static_assert(kTakesAsMany<decltype(Library::init_rank), decltype(ncclCommInitRankConfig)>);
static_assert(kTakesAsMany<decltype(Library::all_reduce), decltype(ncclAllReduce)>);
static_assert(kTakesAsMany<decltype(Library::get_async_error), decltype(ncclCommGetAsyncError)>);
static_assert(kTakesAsMany<decltype(Library::abort), decltype(ncclCommAbort)>);
static_assert(kTakesAsMany<decltype(Library::get_unique_id), decltype(ncclGetUniqueId)>);

TEST(NcclDeclarations, NameFunctionsOfTheLibrary) {
  try {
    EXPECT_FALSE(Library().version().empty());
  } catch (const std::exception& error) {
    GTEST_SKIP() << error.what();
  }
}

}  // namespace
}  // namespace bench::nccl
