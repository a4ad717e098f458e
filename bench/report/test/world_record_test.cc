#include "bench/report/world_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/base/errors.h"

namespace bench {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

results::Record record_of(const std::string& host) {
  results::Record record;
  record.host.hostname = host;
  record.cpu.model = std::string("EPYC");
  record.cpu.governor = Unknown{"no such file"};
  record.cpu.processors_used = std::vector<int>{0, 1};
  record.env = {{"OMP_NUM_THREADS", "2"}};
  record.gpus.emplace_back().pci_bus_id = "0000:0e:00.0";
  return record;
}

/// Two steps on two towers.
SessionResult session_of(milliseconds faster, milliseconds slower) {
  SessionResult session;
  session.steps = {milliseconds(100), milliseconds(100)};
  session.own_steps = 2;
  session.shares = {{.computing = 2 * faster, .exposed_communication = milliseconds(20)},
                    {.computing = 2 * slower, .exposed_communication = milliseconds(10)}};
  return session;
}

std::string name_of_rank(int rank) { return fmt::format("rank {}", rank); }

TEST(WorldRecord, HasTheSlowestDeviceOfEachRank) {
  const std::string first = rank_text(record_of("a"), session_of(milliseconds(7), milliseconds(9)));
  results::Record other = record_of("b");
  other.env = {{"KMP_BLOCKTIME", "0"}};
  const std::string second = rank_text(other, SessionResult());
  const auto ranks = read_ranks(std::vector{first, second});
  ASSERT_EQ(ranks.size(), 2U);
  EXPECT_EQ(ranks[0].host, "a");
  EXPECT_EQ(ranks[0].cpu.value(), "EPYC");
  EXPECT_FALSE(ranks[0].governor.known());
  EXPECT_THAT(ranks[0].processors, ElementsAre(0, 1));
  EXPECT_THAT(ranks[0].gpus, ElementsAre("0000:0e:00.0"));
  EXPECT_DOUBLE_EQ(ranks[0].computing.value(), 0.009);
  EXPECT_DOUBLE_EQ(ranks[0].exposed_communication.value(), 0.005);
  EXPECT_THAT(ranks[0].env, IsEmpty());
  EXPECT_EQ(ranks[1].host, "b");
  EXPECT_FALSE(ranks[1].computing.known()) << "no step was measured";
  EXPECT_THAT(ranks[1].env, ElementsAre(Pair("KMP_BLOCKTIME", "0"), Pair("OMP_NUM_THREADS", "")));
}

TEST(WorldRecord, HasTheStalenessOfAsynchronousWorkers) {
  SessionResult session = session_of(milliseconds(7), milliseconds(9));
  session.own_steps = 4;
  session.staleness = {{9, 0, 1, 2}};
  const auto ranks = read_ranks(std::vector{rank_text(record_of("a"), session)});
  EXPECT_EQ(ranks[0].steps, 4);
  EXPECT_DOUBLE_EQ(ranks[0].computing.value(), 0.0045);
  ASSERT_TRUE(ranks[0].staleness);
  EXPECT_EQ(ranks[0].staleness->median, 1);
  EXPECT_EQ(ranks[0].staleness->p95, 2);
  EXPECT_EQ(ranks[0].staleness->max, 9);
  EXPECT_THAT(rank_warnings(ranks, name_of_rank), IsEmpty());
}

std::vector<results::WorldRank> ranks_that_compute(const std::vector<double>& seconds) {
  std::vector<results::WorldRank> ranks;
  for (const double time : seconds) {
    ranks.push_back({.cpu = std::string("EPYC"), .computing = time});
  }
  return ranks;
}

TEST(WorldRecord, NamesTheSlowestRank) {
  EXPECT_THAT(rank_warnings(ranks_that_compute({0.1, 0.104, 0.1}), name_of_rank), IsEmpty());
  EXPECT_THAT(rank_warnings(ranks_that_compute({0.1, 0.12, 0.1}), name_of_rank),
              ElementsAre("rank 1 is the slowest: it computes 120.0 ms per step, the median rank "
                          "100.0 ms; the others wait for it"));
  EXPECT_THAT(rank_warnings(ranks_that_compute({0.2, 0.1}), name_of_rank),
              ElementsAre(testing::StartsWith("rank 0 is the slowest")));
}

TEST(WorldRecord, WarnsOfDifferentProcessors) {
  auto ranks = ranks_that_compute({0.1, 0.1});
  ranks[1].cpu = std::string("Xeon");
  EXPECT_THAT(
      rank_warnings(ranks, name_of_rank),
      ElementsAre(
          "1 of 2 ranks have a different processor from rank 0: rank 1 has Xeon, not EPYC"));
}

}  // namespace
}  // namespace bench
