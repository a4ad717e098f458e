#include "bench/plan/tuning_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "bench/plan/choices_file.h"
#include "models/base/errors.h"
#include "models/base/test/scratch_folder.h"

namespace bench {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

class KeptChoices : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file() const { return cache_.file(key_).value(); }
  void write(const std::string& text) const {
    std::filesystem::create_directories(file().parent_path());
    std::ofstream(file()) << text;
  }

  ScratchFolder folder_;
  TuningCache cache_{folder_.path() / "tuning"};
  TuningKey key_{.subject = {{"device", "a card"}, {"graph", "0123"}},
                 .versions = {{"driver", "13.0"}, {"libraries", "cuDNN 9.19.0"}}};
  Choices choices_{.nodes = {{"conv1", {.implementation = "fast", .inputs = {}, .outputs = {}}}},
                   .held = {{"images", Layout("nhwc")}}};
};

TEST_F(KeptChoices, AreFoundAgain) {
  EXPECT_FALSE(cache_.find(key_).choices);
  EXPECT_EQ(cache_.find(key_).why_not, "");
  EXPECT_EQ(cache_.keep(key_, choices_), "");
  EXPECT_EQ(TuningCache(folder_.path() / "tuning").find(key_).choices, choices_);
}

TEST_F(KeptChoices, AreFoundForTheirSubjectOnly) {
  EXPECT_EQ(cache_.keep(key_, choices_), "");
  for (const char* name : {"device", "graph"}) {
    TuningKey other = key_;
    other.subject[name] += "4";
    EXPECT_FALSE(cache_.find(other).choices);
    EXPECT_EQ(cache_.find(other).why_not, "");
  }
}

TEST_F(KeptChoices, AreIgnoredWithASentenceForOtherVersions) {
  EXPECT_EQ(cache_.keep(key_, choices_), "");
  TuningKey newer = key_;
  newer.versions["driver"] = "13.1";
  EXPECT_FALSE(cache_.find(newer).choices);
  EXPECT_THAT(cache_.find(newer).why_not, EndsWith("was made for driver=13.0, which is now 13.1"));
  newer = key_;
  newer.versions["program"] = "2";
  EXPECT_THAT(cache_.find(newer).why_not,
              EndsWith("was made for an unknown program, which is now 2"));
  EXPECT_EQ(cache_.keep(newer, choices_), "");
  EXPECT_TRUE(cache_.find(newer).choices);
  EXPECT_THAT(cache_.find(key_).why_not, EndsWith("was made for additional versions"));
}

TEST_F(KeptChoices, AreIgnoredWithASentenceIfInvalid) {
  for (const char* text : {"", "{", "[1]", "{}", R"({"made_for": {}, "nodes": 5, "held": {}})"}) {
    write(text);
    EXPECT_FALSE(cache_.find(key_).choices);
    EXPECT_EQ(cache_.find(key_).why_not,
              fmt::format("{} does not contain choices", file().string()))
        << text;
  }
  std::filesystem::remove(file());
  std::filesystem::create_directories(file());
  EXPECT_EQ(cache_.find(key_).why_not, fmt::format("{} is not a regular file", file().string()));
}

TEST_F(KeptChoices, NeedAFolderThatCanBeWritten) {
  std::ofstream(folder_.path() / "file") << "x";
  EXPECT_THAT(TuningCache(folder_.path() / "file").keep(key_, choices_), HasSubstr("file"));
  const TuningCache nowhere(std::nullopt);
  EXPECT_EQ(nowhere.keep(key_, choices_), "BENCH_CACHE_DIR, XDG_CACHE_HOME and HOME are not set");
  EXPECT_FALSE(nowhere.find(key_).choices);
  EXPECT_EQ(nowhere.find(key_).why_not, "");
}

TEST(TuningFolder, IsInTheCacheFolder) {
  std::map<std::string, std::string> variables;
  const auto folder = [&] {
    return tuning_folder([&](const std::string& name) { return variables[name]; });
  };
  EXPECT_FALSE(folder());
  variables["HOME"] = "/me";
  EXPECT_EQ(folder(), "/me/.cache/bench/tuning");
  variables["XDG_CACHE_HOME"] = "/caches";
  EXPECT_EQ(folder(), "/caches/bench/tuning");
  variables["BENCH_CACHE_DIR"] = "/own";
  EXPECT_EQ(folder(), "/own/tuning");
}

}  // namespace
}  // namespace bench
