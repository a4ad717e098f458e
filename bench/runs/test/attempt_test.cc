#include "bench/runs/attempt.h"

#include <gtest/gtest.h>

#include <sstream>

#include "bench/loop/session.h"
#include "bench/terminal/phase_watch.h"
#include "models/base/errors.h"

namespace bench {
namespace {

TEST(Attempt, SkipsThePartsAfterAFailure) {
  Attempt attempt;
  int done = 0;
  attempt.at([&] { ++done; });
  EXPECT_TRUE(attempt.succeeded());
  attempt.at([] { throw LossError("the loss is nan"); });
  attempt.at([&] { ++done; });
  EXPECT_EQ(done, 1);
  EXPECT_FALSE(attempt.succeeded());
  EXPECT_EQ(attempt.reason(), "the loss is nan");
}

TEST(Attempt, EndsWithTheStatusOfAFailedCheckAndItsReason) {
  for (const bool mismatch : {true, false}) {
    Attempt attempt;
    attempt.at([&] {
      if (mismatch) {
        throw MismatchError("another network");
      }
      throw LossError("another network");
    });
    std::ostringstream err;
    EXPECT_EQ(attempt.end(err), 1);
    EXPECT_EQ(err.str(), "bench: another network\n");
  }
}

TEST(Attempt, RethrowsOtherErrorsThanFailedChecks) {
  Attempt attempt;
  attempt.at([] { throw WriteError("disk full"); });
  EXPECT_EQ(attempt.reason(), "disk full");
  std::ostringstream err;
  EXPECT_THROW(attempt.end(err), WriteError);
  EXPECT_EQ(err.str(), "");
}

TEST(Attempt, RethrowsAnEndThatTheUserRequested) {
  Attempt attempt;
  EXPECT_THROW(attempt.at([] { throw RunEnded("while planning"); }), RunEnded);
  EXPECT_TRUE(attempt.succeeded());
}

}  // namespace
}  // namespace bench
