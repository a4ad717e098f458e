#include "results/store/stored_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/base/errors.h"
#include "results/store/test/made_record.h"

namespace bench::results {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::string record_refusal(const std::string& text) {
  try {
    parse_run(text, "a.json");
  } catch (const DataError& error) {
    return error.what();
  }
  return "taken";
}

TEST(StoredRun, HasTheValuesOfTheRecord) {
  const StoredRun run = parse_run(record_json(made_record()), "a.json");
  EXPECT_EQ(run.start_ms, 1'767'225'600'123);
  EXPECT_EQ(run.status, "ok");
  EXPECT_EQ(run.group_id, run.record_id);
  EXPECT_EQ(run.workload, "resnet50 train bs64 f32");
  EXPECT_EQ(run.machine, "node7, AMD EPYC 9654, 2 threads, avx512");
  EXPECT_EQ(run.git_rev, "16a685e0");
  EXPECT_EQ(run.dirty, false);
  const StoredMetric& rate = run.metrics.at("images_per_sec");
  EXPECT_EQ(rate.value, 100);
  EXPECT_EQ(rate.unit, "images/s");
  EXPECT_EQ(rate.better, Better::kHigher);
  EXPECT_EQ(rate.kind, Kind::kNoisy);
  EXPECT_EQ(run.metrics.at("model_params").kind, Kind::kExact);
}

TEST(StoredRun, SeekableImagesChangeTheWorkloadKey) {
  const auto key = [](int seekable) {
    json record = json_of(made_record());
    record["input"] = {{"images", 1000}, {"seekable", seekable}};
    return stored_run(sealed(record)).workload_key;
  };
  EXPECT_EQ(key(0), stored_run(sealed(json_of(made_record()))).workload_key);
  EXPECT_EQ(key(0), key(3)) << "a few images of an ordinary dataset are seekable";
  EXPECT_NE(key(0), key(990));
  EXPECT_EQ(key(985), key(990)) << "the share varies from run to run";
}

TEST(StoredRun, TakesLabelTagsAndGroup) {
  json record = json_of(made_record());
  record["label"] = "before";
  record["reason"] = "nightly";
  record["group_id"] = "g1";
  record["tags"] = {{"site", "ams"}};
  const StoredRun run = stored_run(sealed(record));
  EXPECT_EQ(run.label, "before");
  EXPECT_EQ(run.reason, "nightly");
  EXPECT_EQ(run.group_id, "g1");
  EXPECT_EQ(run.tags.at("site"), "ams");
}

TEST(StoredRun, OmitsMetricsWithoutAValue) {
  Record record = made_record();
  record.metrics.push_back({.name = "top1", .value = Unknown{"not asked for"}, .unit = "1"});
  EXPECT_FALSE(parse_run(record_json(record), "a.json").metrics.contains("top1"));
}

TEST(StoredRun, RefusesAnEditedRecord) {
  json record = json_of(made_record());
  record["metrics"][0]["value"] = 200.0;
  EXPECT_THAT(record_refusal(record.dump()),
              HasSubstr("a.json: the record was changed after it was written"));
  record["metrics"][0]["value"] = 100.0;
  EXPECT_EQ(record_refusal(record.dump()), "taken");
}

TEST(StoredRun, IsTheSameForAnySpacing) {
  const json record = json_of(made_record());
  EXPECT_EQ(parse_run(record.dump(4), "a.json").record_id,
            parse_run(record.dump(), "b.json").record_id);
}

TEST(StoredRun, RefusesATruncatedRecord) {
  const std::string text = record_json(made_record());
  for (std::size_t size : {std::size_t{1}, text.size() / 2, text.size() - 3}) {
    EXPECT_THAT(record_refusal(text.substr(0, size)), HasSubstr("is truncated")) << size;
  }
  EXPECT_EQ(record_refusal(" \n"), "a.json: the file is empty");
}

TEST(StoredRun, RefusesAnotherSchema) {
  json record = json_of(made_record());
  record["schema"] = "bench.record/1";
  EXPECT_THAT(
      record_refusal(sealed(record).dump()),
      HasSubstr("schema bench.record/1 is not supported: this program reads bench.record/2"));
}

TEST(StoredRun, RefusesForeignFiles) {
  EXPECT_THAT(record_refusal("hello"), HasSubstr("is not JSON"));
  EXPECT_THAT(record_refusal("[1, 2]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(record_refusal(R"({"context": {}})"), HasSubstr("'schema' is missing"));
  EXPECT_THAT(record_refusal(R"({"schema": "other/1"})"), HasSubstr("the schema is 'other/1'"));
}

TEST(StoredRun, NamesTheMissingMemberOfARecord) {
  for (const char* member : {"status", "time", "workload", "metrics"}) {
    json record = json_of(made_record());
    record.erase(member);
    EXPECT_THAT(record_refusal(sealed(record).dump()),
                AllOf(HasSubstr("incomplete record"), HasSubstr(member)));
  }
  json record = json_of(made_record());
  record.erase("record_id");
  EXPECT_THAT(record_refusal(record.dump()), HasSubstr("'record_id' is missing"));
}

TEST(StoredRun, RefusesANumberBeyondADouble) {
  EXPECT_THAT(record_refusal(R"({"a": 1e999})"), HasSubstr("beyond the range of a double"));
}

TEST(StoredRun, RefusesCaptureErrorsOfAnotherType) {
  json record = json_of(made_record());
  record["capture_errors"] = {"host.os"};
  EXPECT_THAT(record_refusal(sealed(record).dump()),
              HasSubstr("'capture_errors' is not an object"));
  record["capture_errors"] = {{"host.os", 1}};
  EXPECT_THAT(record_refusal(sealed(record).dump()),
              HasSubstr("the reason for 'host.os' in 'capture_errors' is not a string"));
}

TEST(StoredRun, RefusesMembersOfAnotherType) {
  json record = json_of(made_record());
  record["tags"] = {{"site", 1}};
  EXPECT_THAT(record_refusal(sealed(record).dump()), HasSubstr("the tag 'site' is not a string"));
  record = json_of(made_record());
  record["metrics"][0]["value"] = "fast";
  EXPECT_THAT(record_refusal(sealed(record).dump()), HasSubstr("'value' is not a number"));
  record = json_of(made_record());
  record["time"]["start_utc"] = "2026-02-30T00:00:00.000Z";
  EXPECT_THAT(record_refusal(sealed(record).dump()), HasSubstr("not a date of the calendar"));
  record["time"]["start_utc"] = "yesterday";
  EXPECT_THAT(record_refusal(sealed(record).dump()), HasSubstr("is not a time such as"));
}

}  // namespace
}  // namespace bench::results
