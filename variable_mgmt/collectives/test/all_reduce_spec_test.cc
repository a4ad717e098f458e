#include "variable_mgmt/collectives/all_reduce_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "models/base/errors.h"
#include "variable_mgmt/collectives/schedule.h"

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

AllReduceRange range(const std::string& algorithm, int shards, std::int64_t limit) {
  return {.algorithm = algorithm, .shards = shards, .limit = limit};
}

TEST(AllReduceSpec, ReadsAlgorithmsShardsAndLimits) {
  EXPECT_THAT(parse_all_reduce_spec("nccl"), ElementsAre(range("nccl", 1, -1)));
  EXPECT_THAT(parse_all_reduce_spec("psgpu#4"), ElementsAre(range("psgpu", 4, -1)));
  EXPECT_THAT(parse_all_reduce_spec("pscpu/pscpu#2"), ElementsAre(range("pscpu/pscpu", 2, -1)));
  EXPECT_THAT(parse_all_reduce_spec("pscpu:32k:xring"),
              ElementsAre(range("pscpu", 1, 32768), range("xring", 1, -1)));
  EXPECT_THAT(
      parse_all_reduce_spec("pscpu:2k:pscpu#2:64k:xring"),
      ElementsAre(range("pscpu", 1, 2048), range("pscpu", 2, 65536), range("xring", 1, -1)));
  EXPECT_THAT(parse_all_reduce_spec("shm:1:tree:1K:rechd:1M:psgpu:1G:xring:1T:nccl"),
              ElementsAre(range("shm", 1, 1), range("tree", 1, 1024), range("rechd", 1, 1 << 20),
                          range("psgpu", 1, 1 << 30), range("xring", 1, std::int64_t{1} << 40),
                          range("nccl", 1, -1)));
}

std::string refusal(const std::string& spec) {
  try {
    parse_all_reduce_spec(spec);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "taken";
}

TEST(AllReduceSpec, NamesThePlaceOfAMistake) {
  EXPECT_THAT(
      refusal("pscpu:2k:ring"),
      HasSubstr(
          "part 3 (character 10) is 'ring'; accepted: one of xring, pscpu, psgpu, collective, shm, "
          "rechd, tree; append #N for N shards to xring, psgpu, collective"));
  EXPECT_THAT(refusal(""), HasSubstr("part 1 (character 1) is ''"));
  EXPECT_THAT(refusal("pscpu#2/pscpu"),
              HasSubstr("part 1 (character 1) is 'pscpu#2/pscpu'; accepted: pscpu#N"));
  EXPECT_THAT(refusal("xring#0"), HasSubstr("a whole number of shards, at least 1"));
  EXPECT_THAT(refusal("xring#"), HasSubstr("a whole number of shards, at least 1"));
  EXPECT_THAT(refusal("pscpu:2q:xring"),
              HasSubstr("part 2 (character 7) is '2q'; accepted: a size"));
  EXPECT_THAT(refusal("pscpu:-2:xring"), HasSubstr("part 2 (character 7)"));
  EXPECT_THAT(refusal("pscpu::xring"), HasSubstr("part 2 (character 7) is ''"));
  EXPECT_THAT(refusal("pscpu:9999999999T:xring"), HasSubstr("a size in bytes"));
  EXPECT_THAT(refusal("pscpu:0:xring"), HasSubstr("above the previous limit of 0 bytes"));
  EXPECT_THAT(refusal("pscpu:2k:shm:1k:xring"),
              HasSubstr("part 4 (character 14) is '1k'; accepted: a size above"));
  EXPECT_THAT(refusal("pscpu:2k"), HasSubstr("ends with the limit '2k'"));
}

std::string refusal_of_four(const std::string& spec, const AllReduceOffer& offer = {}) {
  try {
    check_all_reduce_spec(spec, 4, offer);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "taken";
}

TEST(AllReduceSpec, NamesThePartThatTheMembersCannotRun) {
  for (const char* spec : {"shm", "nccl", "auto", "xring#4", "psgpu#4", "collective#2", "rechd",
                           "pscpu:2k:psgpu#2:64k:tree"}) {
    EXPECT_EQ(refusal_of_four(spec), "taken");
  }
  EXPECT_EQ(refusal_of_four("pscpu:2k:psgpu#5"),
            "--all_reduce_spec=pscpu:2k:psgpu#5: part 3 (character 10) is 'psgpu#5'; accepted: "
            "psgpu with 1 to 4 shards, at most one per device");
  EXPECT_THAT(refusal_of_four("xring#5"), HasSubstr("is 'xring#5'; accepted: xring with 1 to 4"));
  EXPECT_THAT(refusal_of_four("shm:2k:nccl/xring"),
              HasSubstr("part 3 (character 8) is 'nccl/xring'; accepted: one of xring, "));
  EXPECT_THAT(refusal_of_four("nccl/xring"), HasSubstr("nccl/xring is not supported yet"));
  EXPECT_THAT(
      refusal_of_four("auto:32k:xring"),
      HasSubstr("part 1 (character 1) is 'auto'; accepted: one of xring, pscpu, psgpu, collective, "
                "shm, rechd, tree; auto covers all sizes and must be the only part"));
  EXPECT_THAT(refusal_of_four("xring:32k:nccl"), HasSubstr("nccl covers all sizes"));
  for (const char* spec : {"nccl#2", "auto#2", "rechd#2", "tree#4", "shm#4", "pscpu#2"}) {
    const std::string name = std::string(spec).substr(0, std::string(spec).find('#'));
    EXPECT_THAT(refusal_of_four(spec),
                HasSubstr(fmt::format("part 1 (character 1) is '{}'; accepted: {} without shards",
                                      spec, name)));
  }
}

TEST(AllReduceSpec, NamesOnlyOfferedAlgorithms) {
  for (const std::string spec : {"foo", "nccl/rechd", "pscpu/pscpu"}) {
    EXPECT_THAT(refusal_of_four(spec, {.nccl = false}),
                HasSubstr("accepted: one of xring, pscpu, psgpu, collective, shm, rechd, tree, "
                          "auto; "));
    EXPECT_THAT(refusal_of_four(spec), HasSubstr("accepted: one of nccl, xring, "));
    EXPECT_THAT(refusal_of_four(spec, {.timed = false}), HasSubstr("rechd, tree; "));
  }
}

TEST(AllReduceSpec, NamesWhatMembersOfOneHostHaveSchedulesFor) {
  std::istringstream names(describe_algorithms({.nccl = false, .timed = false}));
  std::vector<std::string> described;
  for (std::string name; std::getline(names >> std::ws, name, ',');) {
    EXPECT_EQ(refusal_of_four(name), "taken");
    EXPECT_EQ(plan_schedule({.range = {.algorithm = name}, .members = 4, .elements = 64}).size(),
              4U);
    described.push_back(name);
  }
  EXPECT_THAT(described, testing::IsSupersetOf(host_algorithms()));
  EXPECT_EQ(described.size(), host_algorithms().size() + 1) << "collective is as xring";
}

TEST(AllReduceSpec, ChoosesByBytesUpToTheLimit) {
  const auto ranges = parse_all_reduce_spec("pscpu:2k:psgpu#2:64k:xring");
  EXPECT_EQ(range_for(ranges, 0).algorithm, "pscpu");
  EXPECT_EQ(range_for(ranges, 2048).algorithm, "pscpu");
  EXPECT_EQ(range_for(ranges, 2049).algorithm, "psgpu");
  EXPECT_EQ(range_for(ranges, 65537).algorithm, "xring");
  EXPECT_EQ(name_of(ranges[1]), "psgpu#2");
  EXPECT_EQ(name_of(ranges[2]), "xring");
}

}  // namespace
}  // namespace bench
