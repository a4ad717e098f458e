#include "kernels/cpu/embedding.h"

#include <numeric>
#include <vector>

#include "kernels/cpu/test/kernel_test.h"
#include "models/base/errors.h"

namespace bench::cpu {
namespace {

TEST(EmbeddingBackward, AddsTheRowsOfAnIdThatSpansTheRangesOfSeveralThreads) {
  constexpr std::int64_t kRows = 5;
  constexpr std::int64_t kColumns = 2000;
  constexpr std::int64_t kCount = 64;
  // Ids 0, 2 and 4: most places have id 2.
  std::vector<std::int32_t> ids(kCount, 2);
  ids.front() = 4;
  ids.back() = 0;
  std::vector<float> dy(kCount * kColumns);
  for (std::int64_t i = 0; i < kCount; ++i) {
    std::fill_n(dy.begin() + i * kColumns, kColumns, static_cast<float>(i));
  }
  const auto sum = (kCount - 2) * (kCount - 1) * 0.5F;
  test::for_teams([&](ThreadTeam& team) {
    std::vector<float> dtable(kRows * kColumns, -1);
    std::vector<std::int32_t> order(kCount);
    embedding_backward(team, {.rows = kRows,
                              .columns = kColumns,
                              .count = kCount,
                              .dy = dy.data(),
                              .ids = ids.data(),
                              .order = order.data(),
                              .dtable = dtable.data()});
    std::vector<float> expected(kRows * kColumns, 0);
    std::fill_n(expected.begin(), kColumns, static_cast<float>(kCount - 1));
    std::fill_n(expected.begin() + 2 * kColumns, kColumns, sum);
    EXPECT_EQ(dtable, expected);
  });
}

TEST(EmbeddingBackward, ClearsOnlyThePreviousRowsOfASparseGradient) {
  test::for_teams([](ThreadTeam& team) {
    std::vector<float> dtable(5, -1);
    WrittenRows written;
    const auto run = [&](const std::vector<std::int32_t>& ids, const std::vector<float>& dy) {
      std::vector<std::int32_t> order(ids.size());
      embedding_backward(team, {.rows = 5,
                                .columns = 1,
                                .count = std::ssize(ids),
                                .dy = dy.data(),
                                .ids = ids.data(),
                                .order = order.data(),
                                .dtable = dtable.data(),
                                .written = &written});
    };
    run({3, 1, 3}, {1, 2, 4});
    EXPECT_EQ(dtable, (std::vector<float>{0, 2, 0, 5, 0}));
    dtable[0] = 9;  // It need not be read or written again.
    run({3, 4}, {8, 16});
    EXPECT_EQ(dtable, (std::vector<float>{9, 0, 0, 8, 16}));
    dtable = std::vector<float>(5, -1);
    written.dtable = nullptr;
    run({2}, {1});
    EXPECT_EQ(dtable, (std::vector<float>{0, 0, 1, 0, 0}));
  });
}

TEST(Embedding, ReachesTheLastRowOfALargeTable) {
  constexpr std::int64_t kRows = 70000;
  const std::int32_t last = kRows - 1;
  test::for_teams([&](ThreadTeam& team) {
    std::vector<float> table(kRows);
    std::iota(table.begin(), table.end(), 0.0F);
    float y = 0;
    embedding(
        team,
        {.rows = kRows, .columns = 1, .count = 1, .table = table.data(), .ids = &last, .y = &y});
    EXPECT_EQ(y, static_cast<float>(last));
    std::int32_t order = 0;
    embedding_backward(team, {.rows = kRows,
                              .columns = 1,
                              .count = 1,
                              .dy = &y,
                              .ids = &last,
                              .order = &order,
                              .dtable = table.data()});
    EXPECT_EQ(table.back(), y);
    EXPECT_EQ(table[kRows / 2], 0);
  });
}

TEST(Embedding, RefusesIdsOutsideTheTable) {
  test::for_teams([](ThreadTeam& team) {
    const std::vector<float> table(6);
    std::vector<float> y(2);
    for (const std::int32_t id : {-1, 3}) {
      EXPECT_THROW(embedding(team, {.rows = 3,
                                    .columns = 2,
                                    .count = 1,
                                    .table = table.data(),
                                    .ids = &id,
                                    .y = y.data()}),
                   DataError);
      std::vector<float> dtable(6);
      std::int32_t order = 0;
      EXPECT_THROW(embedding_backward(team, {.rows = 3,
                                             .columns = 2,
                                             .count = 1,
                                             .dy = y.data(),
                                             .ids = &id,
                                             .order = &order,
                                             .dtable = dtable.data()}),
                   DataError);
    }
  });
}

}  // namespace
}  // namespace bench::cpu
