#include "results/record/build_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::results {
namespace {

using ::testing::MatchesRegex;

TEST(SourceInfo, IsARevisionOrAReason) {
  const Source source = source_info();
  EXPECT_THAT(source.bench_version, MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_EQ(source.git_rev.known(), source.dirty.known());
  if (source.git_rev.known()) {
    EXPECT_THAT(source.git_rev.value(), MatchesRegex("[0-9a-f]{40,64}"));
    EXPECT_THAT(source.commit_time.value(), MatchesRegex("[0-9]{4}-.*"));
  } else {
    EXPECT_NE(source.git_rev.why(), "");
    EXPECT_EQ(source.dirty.why(), source.git_rev.why());
  }
}

TEST(BuildInfo, NamesTheCompilerThatBuiltThisTest) {
  const Build build = build_info();
#if defined(__clang__)
  EXPECT_EQ(build.compiler, "Clang");
#else
  EXPECT_EQ(build.compiler, "GNU");
  EXPECT_EQ(build.version, fmt::format("{}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__));
#endif
  EXPECT_NE(build.build_type, "");
  EXPECT_NE(build.stdlib, "");
}

}  // namespace
}  // namespace bench::results
