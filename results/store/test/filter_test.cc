#include "results/store/filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/base/errors.h"
#include "results/store/store.h"
#include "results/store/test/made_record.h"
#include "results/store/test/temporary_store.h"

namespace bench::results {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

constexpr std::int64_t kNow = 1'767'225'600'000;  // 2026-01-01T00:00:00Z
constexpr std::int64_t kDay = 24 * 3600 * 1000;

std::string filter_refusal(std::string_view text) {
  try {
    parse_filter(text, kNow);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "taken";
}

/// Four runs, known by their labels.
class Filtered : public testing::Test {
 protected:
  Filtered() {
    add("a", "resnet50", 64, 100, kNow - 40 * kDay, "NVIDIA H100 80GB", "ams");
    add("b", "resnet50", 32, 110, kNow - 20 * kDay, "", "lon");
    add("c", "vgg16", 64, 50, kNow - 10 * kDay, "NVIDIA A100", "ams");
    add("d", "resnet101", 64, 60, kNow - kDay, "", "");
  }

  void add(const std::string& label, const std::string& model, std::int64_t batch, double speed,
           std::int64_t start_ms, const std::string& gpu, const std::string& site) {
    Record made = made_record(model, batch, speed);
    made.time.start_utc =
        std::chrono::system_clock::time_point(std::chrono::milliseconds(start_ms));
    nlohmann::json record = json_of(made);
    record["label"] = label;
    if (!gpu.empty()) record["gpu"] = {{{"name", gpu}}};
    if (!site.empty()) record["tags"] = {{"site", site}};
    store_.add(stored_run(sealed(record)));
  }

  std::vector<std::string> labels(std::string_view filter) const {
    std::vector<std::string> labels;
    for (const StoredRun& run : store_.summaries(parse_filter(filter, kNow))) {
      labels.push_back(run.label);
    }
    return labels;
  }

  TemporaryFolder folder_;
  Store store_{folder_.path() / "a.sqlite", Store::Access::kWrite};
};

TEST_F(Filtered, SelectsAllWithoutAFilter) {
  EXPECT_THAT(labels(""), ElementsAre("a", "b", "c", "d"));
}

TEST_F(Filtered, ByWordsAndAlternatives) {
  EXPECT_THAT(labels("model:resnet50"), ElementsAre("a", "b"));
  EXPECT_THAT(labels("model:resnet50,vgg16 batch:64"), ElementsAre("a", "c"));
  EXPECT_THAT(labels("model:resnet*"), ElementsAre("a", "b", "d"));
  EXPECT_THAT(labels("model:resnet"), IsEmpty());
  EXPECT_THAT(labels("model:\"resnet50\""), ElementsAre("a", "b"));
}

TEST_F(Filtered, ByRegularExpression) {
  EXPECT_THAT(labels("gpu:/H100/"), ElementsAre("a"));
  EXPECT_THAT(labels("gpu:/^NVIDIA [AH]100/"), ElementsAre("a", "c"));
}

TEST_F(Filtered, SelectsByNegation) {
  EXPECT_THAT(labels("-model:resnet50"), ElementsAre("c", "d"));
  EXPECT_THAT(labels("-gpu:/H100/"), ElementsAre("b", "c", "d")) << "those without a GPU too";
}

TEST_F(Filtered, ByTagsAndMetrics) {
  EXPECT_THAT(labels("tag.site:ams"), ElementsAre("a", "c"));
  EXPECT_THAT(labels("tag.rack:7"), IsEmpty());
  EXPECT_THAT(labels("images_per_sec:>=100"), ElementsAre("a", "b"));
  EXPECT_THAT(labels("metric.images_per_sec:<60"), ElementsAre("c"));
}

TEST_F(Filtered, ByTime) {
  EXPECT_THAT(labels("since:30d"), ElementsAre("b", "c", "d"));
  EXPECT_THAT(labels("since:30d until:2w"), ElementsAre("b"));
  EXPECT_THAT(labels("since:2025-12-20"), ElementsAre("c", "d"));
  EXPECT_THAT(labels("start:<2025-12-01"), ElementsAre("a"));
}

TEST_F(Filtered, ByWordsInAnyCase) {
  EXPECT_THAT(labels("model:RESNET50"), ElementsAre("a", "b"));
  EXPECT_THAT(labels("model:\"VGG16\""), ElementsAre("c"));
  EXPECT_THAT(labels("gpu:nvidia*"), ElementsAre("a", "c"));
  EXPECT_THAT(labels("tag.site:AMS git:16A6"), ElementsAre("a", "c"));
}

TEST_F(Filtered, ByAWholeDay) {
  add("e", "alexnet", 64, 60, kNow - kDay + 1000, "", "");
  EXPECT_THAT(labels("start:2025-12-31"), ElementsAre("d", "e"));
  EXPECT_THAT(labels("start:2025-12-31T00:00"), ElementsAre("d", "e"));
  EXPECT_THAT(labels("start:2025-12-31T00:00:00"), ElementsAre("d"));
  EXPECT_THAT(labels("start:>2025-12-31"), IsEmpty());
  EXPECT_THAT(labels("start:<2025-12-31"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(labels("since:2025-12-31 until:2025-12-31"), ElementsAre("d", "e"));
}

TEST_F(Filtered, ByTheBeginningOfAnId) {
  const std::string id = store_.summaries(parse_filter("model:vgg16", kNow)).at(0).record_id;
  EXPECT_THAT(labels("id:" + id.substr(0, 10)), ElementsAre("c"));
  EXPECT_THAT(labels("git:16a6"), ElementsAre("a", "b", "c", "d"));
}

TEST_F(Filtered, TreatsSqlAsText) {
  EXPECT_THAT(labels("model:\"x' OR '1'='1\""), IsEmpty());
  EXPECT_THAT(labels("label:\"a'; DROP TABLE run\""), IsEmpty());
  EXPECT_THAT(labels(""), ElementsAre("a", "b", "c", "d"));
}

TEST(Filter, RefusesANumberThatIsNotFinite) {
  for (const char* text : {"batch:<nan", "batch:inf", "batch:>=-infinity"}) {
    EXPECT_THAT(filter_refusal(text), HasSubstr("is not a number")) << text;
  }
}

TEST(Filter, RefusesMoreThanSqliteHolds) {
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "-batch:7 ";
  EXPECT_THAT(filter_refusal(many), HasSubstr("the filter has more than 200 values"));
  EXPECT_LT(filter_refusal(many).size(), 400);
  EXPECT_THAT(filter_refusal("model:a*" + std::string(60'000, 'b')),
              HasSubstr("the value is longer than 10000 bytes"));
}

TEST_F(Filtered, ByAsManyValuesAsAFilterMayHave) {
  std::string many;
  for (int i = 0; i < 199; ++i) many += i % 2 == 0 ? "-batch:7 " : "-metric.x:7 ";
  EXPECT_THAT(labels(many + "label:a"), ElementsAre("a"));
}

TEST(Filter, NamesThePositionOfAMistake) {
  EXPECT_EQ(
      filter_refusal("model:resnet50 gpu:/H100"),
      "filter 'model:resnet50 gpu:/H100', position 20: the regular expression that begins here "
      "needs a closing /");
  EXPECT_EQ(filter_refusal("modle:a"),
            "filter 'modle:a', position 1: unknown key 'modle'; did you mean model or mode?");
  EXPECT_THAT(filter_refusal("model:a resnet50"),
              HasSubstr("position 9: 'resnet50' is not a term; write key:value"));
  EXPECT_THAT(filter_refusal("batch:many"), HasSubstr("position 7: 'many' is not a number"));
  EXPECT_THAT(filter_refusal("batch:=>3"), HasSubstr("position 7: '=>3' is not a number"));
  EXPECT_THAT(filter_refusal("model: batch:3"), HasSubstr("position 7: a value is missing"));
  EXPECT_THAT(filter_refusal("model:a,"), HasSubstr("position 9: a value is missing"));
  EXPECT_THAT(filter_refusal("model:\"a\"b"), HasSubstr("position 10: 'b' follows a value"));
  EXPECT_THAT(filter_refusal("gpu:/(/"), HasSubstr("position 5: not a regular expression: "));
  EXPECT_THAT(filter_refusal("since:yesterday"),
              HasSubstr("position 7: 'yesterday' is not a time"));
  EXPECT_THAT(filter_refusal("tag.a\"b:c"), HasSubstr("position 1: unknown key 'tag.a\"b'"));
}

TEST(ParseTime, TakesDatesAndTimesAgo) {
  EXPECT_EQ(parse_time("2026-01-01", 0), kNow);
  EXPECT_EQ(parse_time("2026-01-01T01:02", 0), kNow + 62 * 60 * 1000);
  EXPECT_EQ(parse_time("2026-01-01T00:00:07Z", 0), kNow + 7000);
  EXPECT_EQ(parse_time("1d", kNow), kNow - kDay);
  for (const char* text :
       {"2026-13-01", "2026-02-30", "2026-01-01T25:00", "2026-01-01x", "d", "-1d", ""}) {
    EXPECT_THROW(parse_time(text, kNow), UsageError) << text;
  }
}

}  // namespace
}  // namespace bench::results
