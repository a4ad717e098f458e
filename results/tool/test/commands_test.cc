#include "results/tool/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "models/base/errors.h"
#include "results/record/record_schema.h"
#include "results/store/test/made_record.h"
#include "results/store/test/temporary_store.h"
#include "results/tool/help.h"

namespace bench::results {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

class Commands : public testing::Test {
 protected:
  struct Outcome {
    int status;
    std::string out;
    std::string err;
  };

  Outcome run(const std::string& name, std::vector<std::string> words) const {
    const Command& command = find_command(name);
    words.push_back("--store=" + path(store_));
    std::ostringstream out;
    std::ostringstream err;
    const int status =
        command.run(Arguments(command.name, command.options(), words), {.out = out, .err = err});
    return {.status = status, .out = out.str(), .err = err.str()};
  }

  /// The message of a command's error.
  template <class Error>
  std::string mistake(const std::string& name, const std::vector<std::string>& words) const {
    try {
      run(name, words);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  /// A file with a run; its id.
  std::string file_of_run(const std::string& name, int number,
                          const std::string& label = "") const {
    Record record = made_record("resnet50", 64, 100 + number);
    record.time.start_utc += std::chrono::hours(number);
    record.series.step_ns = {std::chrono::milliseconds(5), std::chrono::milliseconds(7)};
    record.quality.warnings = {"a busy neighbour"};
    json changed = json_of(record);
    changed["label"] = label;
    changed = sealed(changed);
    std::ofstream(path(name)) << changed.dump();
    return changed["record_id"];
  }

  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_.path() / name).string();
  }

  TemporaryFolder folder_;
  std::string store_ = "s.sqlite";
};

TEST_F(Commands, StoreEachRunOnceAndListThem) {
  file_of_run("a.json", 1);
  file_of_run("b.json", 2);
  EXPECT_THAT(run("store", {path("a.json"), path("b.json")}).out, HasSubstr(": 2 runs stored\n"));
  EXPECT_THAT(run("store", {path("a.json")}).out, HasSubstr(": 0 runs stored, 1 already stored\n"));
  const json listed =
      json::parse(run("list", {"--format=json", "--columns=images_per_sec,model"}).out);
  EXPECT_EQ(listed, json::parse(R"([{"images_per_sec": 102.0, "model": "resnet50"},
                                    {"images_per_sec": 101.0, "model": "resnet50"}])"));
}

TEST_F(Commands, StoreTheOthersWhereAFileIsBad) {
  file_of_run("a.json", 1);
  std::ofstream(path("bad.json")) << "{";
  file_of_run("c.json", 3);
  const Outcome outcome = run("store", {path("a.json"), path("bad.json"), path("c.json")});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.out, HasSubstr("2 runs stored, 1 refused"));
  EXPECT_THAT(outcome.err, HasSubstr("bad.json: the file is truncated"));
}

TEST_F(Commands, SayThatThereIsNothingToStore) {
  std::filesystem::create_directory(path("empty"));
  const Outcome nothing = run("store", {path("empty")});
  EXPECT_EQ(nothing.status, 3);
  EXPECT_EQ(nothing.out, "");
  EXPECT_EQ(nothing.err, "bench_results: " + path("empty") + ": no records found\n");
  EXPECT_FALSE(std::filesystem::exists(path("s.sqlite")));
  file_of_run("a.json", 1);
  const Outcome one = run("store", {path("empty"), path("a.json")});
  EXPECT_EQ(one.status, 3);
  EXPECT_THAT(one.out, HasSubstr("1 run stored, 1 refused"));
}

TEST_F(Commands, SayThatThereIsNothingToList) {
  file_of_run("a.json", 1);
  run("store", {path("a.json")});
  EXPECT_EQ(run("list", {"model:resnet50"}).status, 0);
  const Outcome none = run("list", {"model:vgg16", "batch:64", "--format=json"});
  EXPECT_EQ(none.status, 3);
  EXPECT_EQ(json::parse(none.out), json::array());
  EXPECT_EQ(none.err, "bench_results: no runs match 'model:vgg16 batch:64'\n");
}

TEST_F(Commands, ListWithoutTheRunsOfANegatedTerm) {
  file_of_run("a.json", 1);
  run("store", {path("a.json")});
  EXPECT_EQ(run("list", {"model:resnet50", "-status:failed"}).status, 0);
  EXPECT_EQ(run("list", {"model:resnet50", "-status:ok"}).status, 3);
}

TEST_F(Commands, ListInEveryForm) {
  file_of_run("a.json", 1, "x, \"y\" | z");
  run("store", {path("a.json")});
  const std::vector<std::string> columns{"--columns=label,images_per_sec,start,gpu"};
  const auto listed = [&](const std::string& form) {
    return run("list", {columns[0], "--format=" + form}).out;
  };
  EXPECT_EQ(listed("text"),
            "label       images_per_sec  start                     gpu\n"
            "x, \"y\" | z             101  2026-01-01T01:00:00.123Z    -\n");
  EXPECT_EQ(listed("csv"),
            "label,images_per_sec,start,gpu\r\n"
            "\"x, \"\"y\"\" | z\",101.0,2026-01-01T01:00:00.123Z,\r\n");
  EXPECT_EQ(listed("md"),
            "| label | images\\_per\\_sec | start | gpu |\n|---|---:|---|---|\n"
            "| x, \"y\" \\| z | 101 | 2026-01-01T01:00:00.123Z | - |\n");
  EXPECT_EQ(json::parse(listed("jsonl"))["gpu"], nullptr);
}

TEST_F(Commands, ListATextThatASpreadsheetWouldComputeAsText) {
  file_of_run("a.json", 1, "=HYPERLINK(\"x\")");
  run("store", {path("a.json")});
  EXPECT_EQ(run("list", {"--columns=label", "--format=csv"}).out,
            "label\r\n\"'=HYPERLINK(\"\"x\"\")\"\r\n");
}

TEST_F(Commands, ShowARunByAPrefixOfItsId) {
  const std::string id = file_of_run("a.json", 1);
  run("store", {path("a.json")});
  const std::string shown = run("show", {id.substr(0, 6)}).out;
  EXPECT_THAT(shown, HasSubstr(id + "  resnet50 train bs64 f32  ok"));
  EXPECT_THAT(shown, HasSubstr("steps  ▁█  5 to 7 ms, 2 steps"));
  EXPECT_THAT(shown, HasSubstr("a busy neighbour"));
  EXPECT_THAT(shown, HasSubstr("host.os: not captured"));
  EXPECT_EQ(json::parse(run("show", {"--json", id}).out)["record_id"], id);
}

TEST_F(Commands, ShowTheEvaluationsOfATraining) {
  file_of_run("a.json", 1);
  json changed = json::parse(std::ifstream(path("a.json")));
  changed["evaluations"] = json::array({{{"step", 12},
                                         {"images", 130},
                                         {"top_1", 0.75},
                                         {"top_5", 0.975},
                                         {"seconds_since_start", 3.5},
                                         {"seconds", 0.5}}});
  std::ofstream(path("a.json")) << sealed(changed).dump();
  EXPECT_THAT(
      run("show", {path("a.json")}).out,
      testing::ContainsRegex("evaluated after step +s from the start +examples +top-1 +top-5\n"
                             " *12 +3.5 +130 +0.75 +0.975\n"));
}

TEST_F(Commands, ShowTheEvaluationOfAModelThatFindsObjects) {
  file_of_run("a.json", 1);
  json changed = json::parse(std::ifstream(path("a.json")));
  changed["evaluations"] = json::array({{{"step", 12},
                                         {"images", 130},
                                         {"scores", {{"AP", 0.25}, {"AP50", 0.5}}},
                                         {"seconds_since_start", 3.5},
                                         {"seconds", 0.5}}});
  std::ofstream(path("a.json")) << sealed(changed).dump();
  EXPECT_THAT(run("show", {path("a.json")}).out,
              testing::ContainsRegex("evaluated after step +s from the start +examples +AP +AP50\n"
                                     " *12 +3.5 +130 +0.25 +0.5\n"));
}

TEST_F(Commands, SkipABadFileOfAFolderWithAWarning) {
  store_ = "records/";
  const std::string id = file_of_run("a.json", 1);
  run("store", {path("a.json")});
  std::ofstream(path("records/2026/01/0123456789abcdef.json")) << R"({"a": 1e999})";
  const Outcome shown = run("show", {id});
  EXPECT_THAT(shown.out, HasSubstr(id));
  EXPECT_THAT(shown.err, AllOf(HasSubstr("bench_results: warning: skipped "),
                               HasSubstr("0123456789abcdef.json: not a record of bench")));
}

TEST_F(Commands, RefuseAPrefixOfSeveralGroups) {
  for (const auto& [name, group] :
       {std::pair{"a.json", "01a20dd4-aa"}, {"b.json", "01a20dd4-bb"}}) {
    file_of_run(name, 1);
    json changed = json::parse(std::ifstream(path(name)));
    changed["group_id"] = group;
    std::ofstream(path(name)) << sealed(changed).dump();
    run("store", {path(name)});
  }
  EXPECT_EQ(mistake<UsageError>("show", {"01a20dd4"}),
            "01a20dd4: 2 runs or groups have ids with this prefix; write a longer prefix of one: "
            "01a20dd4-aa, 01a20dd4-bb");
  EXPECT_THAT(run("show", {"01a20dd4-a"}).out, HasSubstr("resnet50 train bs64 f32"));
}

TEST_F(Commands, NameAMistakeInASelector) {
  run("store", {(file_of_run("a.json", 1), path("a.json"))});
  EXPECT_EQ(mistake<DataError>("show", {"0123abcd"}),
            "0123abcd: no run or group in the store has an id with this prefix");
  EXPECT_EQ(mistake<DataError>("show", {"missing.json"}), "missing.json: no such file");
  EXPECT_THAT(mistake<UsageError>("show", {"resnet50"}),
              HasSubstr("matches no runs (not a file or record id)"));
  EXPECT_EQ(mistake<DataError>("show", {"model:vgg16"}), "no runs match 'model:vgg16'");
  EXPECT_THAT(mistake<UsageError>("list", {"--columns=modle"}),
              HasSubstr("unknown column 'modle'; did you mean model or mode?"));
}

TEST_F(Commands, NameTheFilesOfSeveralRuns) {
  for (const char* name : {"a.repeat0.json", "a.repeat1.json", "a.old.json", "b.json"}) {
    file_of_run(name, 1);
  }
  const std::string message =
      path("a.json") + ": no such file; found " + path("a.repeat0.json") +
      " and 1 more, because bench writes one file per run. To select them all, move them to a "
      "folder and type its name";
  EXPECT_EQ(mistake<DataError>("show", {path("a.json")}), message);
  EXPECT_EQ(mistake<DataError>("compare", {path("a.json")}), message);
}

TEST_F(Commands, CompareTwoSelectorsOrMore) {
  file_of_run("a.json", 1);
  EXPECT_EQ(mistake<UsageError>("compare", {}),
            "compare: needs at least two SELECTORs, but none was given; the first is the base");
  EXPECT_EQ(mistake<UsageError>("compare", {path("a.json")}),
            "compare: needs at least two SELECTORs, but only '" + path("a.json") +
                "' was given; the first is the base");
}

TEST_F(Commands, CompareTwoDatabases) {
  file_of_run("a.json", 1);
  file_of_run("b.json", 2);
  store_ = "one.sqlite";
  EXPECT_EQ(run("store", {path("a.json")}).status, 0);
  store_ = "two";
  EXPECT_EQ(run("store", {path("b.json")}).status, 0);
  EXPECT_THAT(run("compare", {path("one.sqlite"), path("two")}).out, HasSubstr("(1 run)"));
}

TEST_F(Commands, CompareEachRunOnce) {
  for (const char* folder : {"a", "b"}) {
    std::filesystem::create_directory(path(folder));
  }
  file_of_run("a/run.json", 1);
  file_of_run("a/copy.json", 1);
  file_of_run("b/run.json", 2);
  EXPECT_THAT(run("compare", {path("a"), path("b")}).out, HasSubstr(path("a") + " (1 run)"));
  file_of_run("b/of_the_base.json", 1);
  EXPECT_THAT(run("compare", {path("a"), path("b")}).out,
              AllOf(HasSubstr(path("b") + " (1 run)"),
                    HasSubstr("b: omitted 1 run that the base has too")));
  EXPECT_EQ(
      mistake<DataError>("compare", {path("a"), path("a/run.json")}),
      path("a/run.json") + ": the base " + path("a") + " has all of these runs; select others");
}

TEST_F(Commands, CompareThreeSidesButReportABadFileOnce) {
  store_ = "records/";
  std::vector<std::string> ids;
  for (int i = 1; i <= 3; ++i) {
    ids.push_back(file_of_run("a.json", i));
    run("store", {path("a.json")});
  }
  std::ofstream(path("records/2026/01/0123456789abcdef.json")) << R"({"a": 1e999})";
  const std::string err = run("compare", ids).err;
  const std::size_t warning = err.find("warning: skipped ");
  ASSERT_NE(warning, std::string::npos);
  EXPECT_EQ(err.find("warning: skipped ", warning + 1), std::string::npos) << err;
}

TEST_F(Commands, SetABaselineOfFiveRunsOrMore) {
  std::vector<std::string> files;
  for (int i = 0; i < 5; ++i) {
    const std::string name = std::to_string(i) + ".json";
    file_of_run(name, i, i < 4 ? "few" : "last");
    files.push_back(path(name));
  }
  run("store", files);
  EXPECT_THAT(mistake<DataError>("baseline", {"set", "v1", "label:few"}),
              AllOf(HasSubstr("needs at least 5 runs of each workload"),
                    HasSubstr("runs of resnet50 train bs64 f32 on "), EndsWith(": 4")));
  EXPECT_EQ(run("baseline", {"set", "v1", "model:resnet50", "--note=first"}).out, "@v1: 5 runs\n");
  EXPECT_THAT(run("baseline", {"list", "--format=csv"}).out, HasSubstr("v1,5,"));
  EXPECT_THAT(run("show", {"@v1"}).out, HasSubstr("resnet50 train bs64 f32"));
  EXPECT_EQ(mistake<UsageError>("show", {"@v2"}), "@v2: no such baseline; did you mean @v1?");
  run("baseline", {"rm", "v1"});
  EXPECT_THAT(run("baseline", {}).out, Not(HasSubstr("v1")));
}

TEST_F(Commands, NoteThatSeveralFiltersFormAUnion) {
  std::vector<std::string> files;
  for (int i = 0; i < 6; ++i) {
    file_of_run(std::to_string(i) + ".json", i, i < 5 ? "v1" : "other");
    files.push_back(path(std::to_string(i) + ".json"));
  }
  run("store", files);
  const Outcome added = run("baseline", {"set", "v1", "label:v1", "model:resnet50"});
  EXPECT_EQ(added.out, "@v1: 6 runs\n");
  EXPECT_EQ(added.err,
            "bench_results: note: selected 6 runs that match any filter: 'label:v1' matches 5, "
            "'model:resnet50' matches 6. To select only runs that match all filters, write one "
            "SELECTOR: 'label:v1 model:resnet50'\n");
  EXPECT_THAT(run("track", {"label:v1", "model:resnet50"}).err, HasSubstr("note: selected 6 runs"));
  const Outcome joined = run("baseline", {"set", "v1", "label:v1 model:resnet50"});
  EXPECT_EQ(joined.out, "@v1: 5 runs\n");
  EXPECT_EQ(joined.err, "");
  EXPECT_EQ(run("export", {files[0], files[1], "--format=csv"}).err, "");
}

TEST_F(Commands, AFilterMayBeLongerThanAFileName) {
  file_of_run("a.json", 0);
  run("store", {path("a.json")});
  std::string filter = "model:resnet50";
  for (int i = 0; i < 30; ++i) filter += " model:resnet50";
  EXPECT_EQ(run("report", {filter}).status, 0);
}

TEST_F(Commands, AFolderMayContainALinkToItself) {
  const std::string folder = path("folder");
  std::filesystem::create_directory(folder);
  file_of_run("folder/a.json", 0);
  std::filesystem::create_symlink("loop.json", folder + "/loop.json");
  EXPECT_EQ(run("report", {folder}).status, 0);
}

TEST_F(Commands, RefuseABaselineOfRunsOutsideTheStore) {
  for (int i = 0; i < 5; ++i) file_of_run(std::to_string(i) + ".json", i);
  std::ofstream(path("other"));
  EXPECT_THAT(mistake<DataError>("baseline", {"set", "v1", folder_.path().string()}),
              HasSubstr("5 of 5 runs are only in files"));
}

TEST_F(Commands, ExamineTheMachineWithoutMakingAStore) {
  const Outcome outcome = run("doctor", {"--seconds=0.1", "--format=json"});
  const json findings = json::parse(outcome.out);
  bool advised = false;
  for (const json& finding : findings) advised = advised || finding["advice"] != "";
  EXPECT_EQ(outcome.status, advised ? 1 : 0);
  EXPECT_FALSE(std::filesystem::exists(path("s.sqlite")));
}

TEST(Schema, IsPrintedAsJsonOrAsAPage) {
  const auto printed = [](const std::vector<std::string>& words) {
    const Command& command = find_command("schema");
    std::ostringstream out;
    command.run(Arguments(command.name, command.options(), words), {.out = out, .err = out});
    return out.str();
  };
  EXPECT_EQ(printed({}), record_schema());
  EXPECT_EQ(printed({"--format=md"}), record_page());
  EXPECT_THROW(printed({"run.json"}), UsageError);
}

TEST_F(Commands, HaveAHelpEach) {
  for (const Command& command : commands()) {
    std::ostringstream out;
    print_help(out, command);
    EXPECT_THAT(out.str(), HasSubstr(std::string(command.summary))) << command.name;
    for (const Option& option : command.options()) {
      EXPECT_THAT(out.str(), HasSubstr("--" + std::string(option.name)));
    }
    std::istringstream lines(out.str());
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100) << line;
  }
}

TEST_F(Commands, ExplainSelectorsWhereTheyAcceptThem) {
  const auto help = [](std::string_view name) {
    std::ostringstream out;
    print_help(out, find_command(name));
    return out.str();
  };
  EXPECT_THAT(help("show"), AllOf(HasSubstr("A SELECTOR selects runs"),
                                  HasSubstr("Several SELECTORs select the runs")));
  EXPECT_THAT(help("compare"),
              AllOf(HasSubstr("A SELECTOR selects runs"), HasSubstr("BASE is a SELECTOR"),
                    Not(HasSubstr("Several SELECTORs"))));
  EXPECT_THAT(help("doctor"), Not(HasSubstr("SELECTOR")));
}

TEST(CommandPosition, FollowsTheOptionsBeforeTheCommand) {
  const auto position = [](const std::vector<std::string>& words) {
    return command_position(words);
  };
  EXPECT_EQ(position({"list", "--store", "s"}), 0);
  EXPECT_EQ(position({"--store=s", "list"}), 1);
  EXPECT_EQ(position({"--store", "list", "list"}), 2);
  EXPECT_EQ(position({"-n", "3", "list"}), 2);
  EXPECT_EQ(position({"--min_effect", "2%", "compare"}), 2);
  EXPECT_EQ(position({"--unknown", "list"}), 1);
  EXPECT_EQ(position({"--store", "s"}), 2);
  EXPECT_EQ(position({"--store"}), 1);
}

TEST(FindCommand, NamesSimilarCommands) {
  EXPECT_EQ(find_command("list").name, "list");
  EXPECT_THROW(find_command("lst"), UsageError);
}

}  // namespace
}  // namespace bench::results
