#include "bench/loop/transcript.h"

#include <algorithm>
#include <numeric>

#include "models/base/errors.h"

namespace bench {
namespace {

template <class Item>
double distance(const std::vector<Item>& from, const std::vector<Item>& to) {
  // Element i is the distance from the items so far to the first i items of `to`.
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (const Item& item : from) {
    std::size_t diagonal = row[0]++;
    for (std::size_t i = 1; i < row.size(); ++i) {
      const std::size_t substituted = diagonal + (item == to[i - 1] ? 0 : 1);
      diagonal = row[i];
      row[i] = std::min({row[i] + 1, row[i - 1] + 1, substituted});
    }
  }
  return static_cast<double>(row.back());
}

}  // namespace

Transcript decode_greedily(std::span<const float> logits, std::size_t classes, std::size_t frames) {
  check(classes > 1 && frames * classes <= logits.size(),
        "the logits do not have that many frames");
  const auto blank = static_cast<std::int32_t>(classes) - 1;
  Transcript transcript;
  std::int32_t last = blank;
  for (std::size_t frame = 0; frame < frames; ++frame) {
    const auto row = logits.subspan(frame * classes, classes);
    const auto best = static_cast<std::int32_t>(std::ranges::max_element(row) - row.begin());
    if (best != last && best != blank) {
      transcript.push_back(best);
    }
    last = best;
  }
  return transcript;
}

std::vector<Transcript> words_of(const Transcript& transcript) {
  std::vector<Transcript> words;
  bool in_word = false;
  for (const std::int32_t character : transcript) {
    if (character == 0) {
      in_word = false;
      continue;
    }
    if (!in_word) {
      words.emplace_back();
    }
    in_word = true;
    words.back().push_back(character);
  }
  return words;
}

double edit_distance(const Transcript& from, const Transcript& to) { return distance(from, to); }

double edit_distance(const std::vector<Transcript>& from, const std::vector<Transcript>& to) {
  return distance(from, to);
}

}  // namespace bench
