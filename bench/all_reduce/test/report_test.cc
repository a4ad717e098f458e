#include "bench/all_reduce/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace bench {
namespace {

using ::testing::HasSubstr;

std::vector<CaseResult> results() {
  return {{.measured = {.elements = {1000, 1000}},
           .bound = AllReduceTiming{.spec = {}, .seconds = {1e-6}},
           .specs = {{.timing = {.spec = {{.algorithm = "xring", .shards = 2}},
                                 .seconds = {3e-6, 2e-6, 2e-6}},
                      .wrong = 7}}}};
}

TEST(AllReduceReport, HasTheRatesOfNcclTests) {
  const AllReduceRates rates = rates_of(8000, 4, 2e-6);
  EXPECT_DOUBLE_EQ(rates.algorithm_bytes_per_second, 4e9);
  EXPECT_DOUBLE_EQ(rates.bus_bytes_per_second, 6e9);
  EXPECT_DOUBLE_EQ(rates_of(8000, 1, 2e-6).bus_bytes_per_second, 0);
}

TEST(AllReduceReport, HasALinePerSizeAndSpec) {
  EXPECT_EQ(table_of(results(), 2),
            "bytes  buffers  spec     time us  alg GB/s  bus GB/s  bound us   %  wrong\n"
            " 8000        2  xring#2      2.0      4.00      4.00       1.0  50      7\n");
}

TEST(AllReduceReport, HasEveryTimeInItsJson) {
  const auto json =
      nlohmann::json::parse(json_of(results(), {.towers = 2, .threads_per_tower = 1}));
  EXPECT_EQ(json["towers"], 2);
  EXPECT_TRUE(json["model"].is_null());
  EXPECT_THAT(json["bound"].get<std::string>(), HasSubstr("read once and written once"));
  const auto& spec = json["cases"][0]["specs"][0];
  EXPECT_EQ(spec["spec"], "xring#2");
  EXPECT_EQ(spec["seconds"].size(), 3U);
  EXPECT_DOUBLE_EQ(spec["share_of_bound"], 0.5);
  EXPECT_EQ(spec["wrong_elements"], 7);
}

TEST(AllReduceReport, HasNoBoundOnGpus) {
  std::vector<CaseResult> without = results();
  without[0].bound.reset();
  EXPECT_THAT(table_of(without, 2), HasSubstr("4.00         -  -      7\n"));
  const auto json = nlohmann::json::parse(json_of(without, {.towers = 2, .gpu = "A Card"}));
  EXPECT_EQ(json["gpu"], "A Card");
  for (const char* field : {"threads_per_tower", "processor", "bound"}) {
    EXPECT_TRUE(json[field].is_null()) << field;
  }
  EXPECT_TRUE(json["cases"][0]["bound_seconds"].is_null());
  EXPECT_TRUE(json["cases"][0]["specs"][0]["share_of_bound"].is_null());
}

}  // namespace
}  // namespace bench
