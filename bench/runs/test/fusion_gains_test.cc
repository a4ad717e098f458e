#include "bench/runs/fusion_gains.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "bench/plan/device.h"
#include "bench/runs/test/small_run.h"

namespace bench {
namespace {

using ::testing::Contains;
using ::testing::Key;

struct Row {
  int steps = 0;
  double gigabytes = 0;
};

/// The table's rows by their titles.
std::map<std::string, Row> rows_of(const std::string& table) {
  std::map<std::string, Row> rows;
  std::istringstream lines(table);
  std::string line;
  std::getline(lines, line);  // the titles
  while (std::getline(lines, line)) {
    const std::size_t end = line.find("  ");
    Row row;
    std::istringstream numbers(line.substr(end));
    numbers >> row.steps >> row.gigabytes;
    rows[line.substr(0, end)] = row;
  }
  return rows;
}

TEST(FusionGains, EveryFusionSavesStepsAndBytes) {
  SmallRun small({"--model=resnet50", "--device=cpu", "--batch_size=2", "--dump=fusions"});
  EXPECT_EQ(small.run().status, 0);
  const auto rows = rows_of(small.out());
  for (const char* fusion : {"batch_norm: activation", "fully_connected: bias"}) {
    EXPECT_THAT(rows, Contains(Key(fusion))) << small.out();
  }
  const Row whole = rows.at("nothing");
  EXPECT_GT(whole.steps, 100);
  EXPECT_GT(rows.size(), 2U);
  for (const auto& [fusion, row] : rows) {
    if (fusion != "nothing") {
      EXPECT_GT(row.steps, whole.steps) << fusion;
      EXPECT_GE(row.gigabytes, whole.gigabytes) << fusion;
    }
  }
  EXPECT_GT(rows.at("batch_norm: activation").gigabytes, 1.1 * whole.gigabytes);
}

}  // namespace
}  // namespace bench
