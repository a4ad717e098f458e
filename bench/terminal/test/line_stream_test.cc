#include "bench/terminal/line_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <vector>

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A descriptor that separates the texts of different system calls.
class Writes {
 public:
  Writes() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends_.data()), 0); }
  ~Writes() {
    close(ends_[0]);
    close(ends_[1]);
  }
  Writes(const Writes&) = delete;
  Writes& operator=(const Writes&) = delete;

  [[nodiscard]] int descriptor() const { return ends_[0]; }
  std::vector<std::string> take() {
    std::vector<std::string> out;
    std::array<char, 256> text{};
    for (;;) {
      const ssize_t size = recv(ends_[1], text.data(), text.size(), MSG_DONTWAIT);
      if (size < 0) return out;
      out.emplace_back(text.data(), static_cast<std::size_t>(size));
    }
  }

 private:
  std::array<int, 2> ends_{};
};

TEST(LineBuffer, WritesALineOfManyPartsAtOnce) {
  Writes writes;
  LineBuffer buffer(writes.descriptor());
  std::ostream out(&buffer);
  out << "batch " << 8 << ',' << " run ";
  EXPECT_THAT(writes.take(), IsEmpty());
  out << 1 << '\n';
  EXPECT_THAT(writes.take(), ElementsAre("batch 8, run 1\n"));
}

TEST(LineBuffer, KeepsAPartialLineUntilItIsFlushed) {
  Writes writes;
  LineBuffer buffer(writes.descriptor());
  std::ostream out(&buffer);
  out << "one\ntwo\nthr";
  EXPECT_THAT(writes.take(), ElementsAre("one\ntwo\n"));
  out << "ee" << std::flush;
  EXPECT_THAT(writes.take(), ElementsAre("three"));
}

TEST(LineBuffer, WritesTheRestAtItsEnd) {
  Writes writes;
  {
    LineBuffer buffer(writes.descriptor());
    std::ostream(&buffer) << "no end";
  }
  EXPECT_THAT(writes.take(), ElementsAre("no end"));
}

TEST(LineBuffer, SaysThatNothingCouldBeWritten) {
  LineBuffer buffer(-1);
  std::ostream out(&buffer);
  out << "held";
  EXPECT_TRUE(out.good());
  out << "\n";
  EXPECT_FALSE(out.good());
}

}  // namespace
}  // namespace bench
