#include "results/record/training_json.h"

#include <variant>

namespace bench::results {
namespace {

void put_checkpoints(Section out, const Checkpoints& checkpoints) {
  if (const auto& after = checkpoints.continued_after) {
    out.put("continued_after", *after);
  } else {
    out.put("continued_after", std::monostate());
  }
  out.put("written", checkpoints.written);
  out.put("seconds", checkpoints.seconds);
}

}  // namespace

void put_training(Section& out, const std::optional<Checkpoints>& checkpoints,
                  const std::vector<Evaluation>& evaluations) {
  if (checkpoints) {
    put_checkpoints(out.child("checkpoints"), *checkpoints);
  }
  out.put_list("evaluations", evaluations, [](Section& item, const Evaluation& evaluation) {
    item.put("step", evaluation.step);
    item.put("images", evaluation.images);
    if (evaluation.top_1 && evaluation.top_5) {
      item.put("top_1", *evaluation.top_1);
      item.put("top_5", *evaluation.top_5);
    }
    if (!evaluation.scores.empty()) {
      item.put("scores", evaluation.scores);
    }
    item.put("seconds_since_start", evaluation.seconds_since_start);
    item.put("seconds", evaluation.seconds);
  });
}

}  // namespace bench::results
