#include "bench/loop/transcript.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Logits of four classes, of which 3 is the blank.
std::vector<float> frames_with(const std::vector<std::size_t>& best) {
  std::vector<float> logits(best.size() * 4);
  for (std::size_t i = 0; i < best.size(); ++i) {
    logits[i * 4 + best[i]] = 1;
  }
  return logits;
}

TEST(Transcript, JoinsRepeatedClassesAndDropsBlanks) {
  EXPECT_THAT(decode_greedily(frames_with({3, 1, 1, 3, 1, 2, 2, 0, 3}), 4, 9),
              ElementsAre(1, 1, 2, 0));
  EXPECT_THAT(decode_greedily(frames_with({3, 3}), 4, 2), IsEmpty());
}

TEST(Transcript, EndsWithTheLastFrame) {
  EXPECT_THAT(decode_greedily(frames_with({1, 2, 1}), 4, 2), ElementsAre(1, 2));
}

TEST(Transcript, HasWordsBetweenSpaces) {
  EXPECT_THAT(words_of({0, 1, 2, 0, 0, 3, 0}), ElementsAre(Transcript{1, 2}, Transcript{3}));
  EXPECT_THAT(words_of({0, 0}), IsEmpty());
}

TEST(EditDistance, CountsInsertionsDeletionsAndSubstitutions) {
  EXPECT_EQ(edit_distance(Transcript{1, 2, 3}, Transcript{1, 2, 3}), 0);
  EXPECT_EQ(edit_distance(Transcript{}, Transcript{1, 2}), 2);
  EXPECT_EQ(edit_distance(Transcript{1, 2}, Transcript{}), 2);
  // kitten and sitting
  EXPECT_EQ(edit_distance(Transcript{1, 2, 3, 3, 4, 5}, Transcript{6, 2, 3, 3, 2, 5, 7}), 3);
  // The same words in the reverse order
  EXPECT_EQ(edit_distance(words_of({1, 0, 2, 2}), words_of({2, 2, 0, 1})), 2);
}

}  // namespace
}  // namespace bench
