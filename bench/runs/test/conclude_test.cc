#include "bench/runs/conclude.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "bench/runs/run.h"
#include "bench/runs/test/small_run.h"
#include "models/base/errors.h"

namespace bench {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A small run up to its conclusion, with a record in a scratch folder.
class SmallConclusion {
 public:
  explicit SmallConclusion(const std::vector<std::string>& more = {})
      : small(arguments(more)),
        begun(small.begin()),
        prepared(prepare(begun, small.host)),
        measured(measure(begun, prepared.value(), small.host)) {}
  int operator()() { return conclude(begun, *prepared, measured, small.host); }
  [[nodiscard]] std::string path(const char* name) const { return folder_.path() / name; }
  [[nodiscard]] std::string file(const char* name) const { return read(path(name)); }
  results::Record& record() { return begun.file.record(); }

 private:
  /// Paths that begin with / are relative to the folder.
  std::vector<std::string_view> arguments(const std::vector<std::string>& more) {
    texts_.push_back("--result_file=" + path("record"));
    for (const std::string& text : more) {
      const std::size_t slash = text.find('/');
      texts_.push_back(slash == std::string::npos
                           ? text
                           : text.substr(0, slash) + path(text.c_str() + slash + 1));
    }
    return {texts_.begin(), texts_.end()};
  }

  ScratchFolder folder_;
  std::vector<std::string> texts_;

 public:
  SmallRun small;
  Begun begun;
  std::optional<Prepared> prepared;
  Measured measured;
};

TEST(Conclude, ChecksTheNetworkAndWritesTheRecord) {
  SmallConclusion run;
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(run.small.err(), HasSubstr("fingerprint: matches the reference in "));
  EXPECT_THAT(run.small.err(), HasSubstr("waiting for input: "));
  EXPECT_EQ(run.record().status, results::Status::kOk);
  EXPECT_THAT(run.record().verification.skipped, IsEmpty());
  EXPECT_THAT(run.record().verification.numbers, Not(IsEmpty()));
  EXPECT_THAT(run.file("record"), HasSubstr("\"model\": \"lenet\""));
}

TEST(Conclude, SavesTracesAndProfilesWhereAskedTo) {
  SmallConclusion run({"--profile", "--trace_file=/trace", "--save_variables=/variables"});
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(run.small.out(), HasSubstr("Dumping trace to " + run.path("trace")));
  EXPECT_THAT(run.small.out(), HasSubstr("kind of op"));
  EXPECT_THAT(run.small.out(), HasSubstr("outside kernels"));
  EXPECT_THAT(run.file("trace"), HasSubstr("conv1"));
  EXPECT_THAT(run.file("variables"), HasSubstr("\"global_step\":\"4\""));
}

TEST(Conclude, ProfilesAStepThatIsNotShorterThanTheDevicesTime) {
  SmallConclusion run({"--profile"});
  SessionResult& session = run.measured.session;
  session.steps.assign(session.steps.size(), std::chrono::milliseconds(100));
  session.device_steps.assign(session.steps.size(), std::chrono::milliseconds(95));
  // The wait took nearly all of the steps; the device computed meanwhile.
  session.input_wait = std::chrono::milliseconds(99) * static_cast<int>(session.steps.size());
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(run.small.err(), HasSubstr("waiting for input: 5.0 % of the step time"));
  EXPECT_THAT(run.small.out(), HasSubstr("step: 95.0 ms without input"));
}

TEST(Conclude, TracesAndProfilesEveryTower) {
  SmallConclusion run(
      {"--num_gpus=2", "--variable_update=replicated", "--profile", "--trace_file=/trace"});
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(run.small.out(), HasSubstr("tower 1\n"));
  EXPECT_THAT(run.small.out(), HasSubstr("exchange"));
  const nlohmann::json events = nlohmann::json::parse(run.file("trace")).at("traceEvents");
  std::map<int, std::vector<std::string>> names;
  std::map<int, double> end;
  for (const nlohmann::json& event : events) {
    const int tower = event.at("pid");
    names[tower].push_back(event.at("name"));
    if (event.at("ph") == "X") {
      EXPECT_GE(event.at("ts").get<double>(), end[tower]);
      end[tower] = event.at("ts").get<double>();
    } else {
      EXPECT_EQ(event.at("args").at("name"), fmt::format("tower {}", tower));
    }
  }
  ASSERT_EQ(names.size(), 2U);
  EXPECT_EQ(names[0], names[1]);
  EXPECT_EQ(names[0].front(), "process_name");
  EXPECT_EQ(names[0].back(), "update");
  EXPECT_GT(events.back().at("args").at("exchange_us"), 0);
  EXPECT_THAT(names[0], Contains("conv1"));
}

TEST(Conclude, FailsWhereTheLossIsNotFinite) {
  SmallConclusion run({"--init_learning_rate=1e30", "--num_warmup_batches=0"});
  EXPECT_EQ(run(), 1);
  EXPECT_THAT(run.small.err(), HasSubstr("bench: the loss is "));
  EXPECT_EQ(run.record().status, results::Status::kFailed);
  EXPECT_TRUE(run.record().partial);
  EXPECT_THAT(run.record().verification.skipped, HasSubstr("ended before the check"));
}

TEST(Conclude, FailsIfTheNetworkDoesNotMatchTheReference) {
  SmallConclusion run;
  // Simulates steps of a network that trained with a different L2 term.
  run.begun.settings.workload.optimizer.weight_decay *= 2;
  EXPECT_EQ(run(), 1);
  EXPECT_THAT(run.small.err(),
              HasSubstr("verification failed: lenet does not match the reference: "));
  EXPECT_EQ(run.record().status, results::Status::kFailed);
  EXPECT_FALSE(run.record().partial);
}

TEST(Conclude, SavesTheResultsOfAnEndedRun) {
  SmallConclusion run({"--save_variables=/variables"});
  run.measured.session.stop = Stop::interrupted;
  try {
    run();
    FAIL() << "it did not end";
  } catch (const RunEnded& ended) {
    EXPECT_STREQ(ended.what(), "after 3 measured steps");
  }
  EXPECT_THAT(run.file("variables"), HasSubstr("lenet"));
}

TEST(Conclude, WritesTheRecordOfAPartThatThrows) {
  SmallConclusion run({"--save_variables=/variables"});
  std::filesystem::create_directory(run.path("variables"));
  EXPECT_THROW(run(), WriteError);
  EXPECT_EQ(run.record().status, results::Status::kFailed);
  EXPECT_THAT(run.file("record"), HasSubstr(run.path("variables")));
}

TEST(RunOnce, PreparesMeasuresAndConcludes) {
  SmallRun small;
  const RunOutcome outcome = small.run();
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.session.steps.size(), 3U);
  EXPECT_GT(outcome.memory.total(), 0U);
}

TEST(RunOnce, MeasuresNothingForADump) {
  SmallRun small({"--dump=plan"});
  const RunOutcome outcome = small.run();
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.session.steps, IsEmpty());
  EXPECT_EQ(outcome.session.stop, Stop::none);
}

TEST(RunOnce, ThrowsAndRecordsThatTheOutputWasClosed) {
  const ScratchFolder folder;
  const std::string path = folder.path() / "record";
  SmallRun small({fmt::format("--result_file={}", path)});
  small.close_output();
  EXPECT_THROW(small.run(), WriteError);
  EXPECT_THAT(read(path), HasSubstr("standard output cannot be written "));
}

}  // namespace
}  // namespace bench
