#include "models/zoo/torch_init.h"
#include "models/zoo/zoo.h"

namespace bench {
namespace {

constexpr std::int64_t kSteps = 35;

std::vector<ExampleInput> inputs_of(std::int64_t num_classes) {
  return {{.name = "tokens", .shape = {kSteps}, .bound = num_classes},
          {.name = "labels", .shape = {kSteps}, .bound = num_classes}};
}

/// The medium language model of Zaremba et al., arXiv:1409.2329: two layers of 650 units, dropout
/// of every second element, and weights within 0.05. It predicts the next word after each word of a
/// sequence, and each sequence starts from a zero state. A gate has two biases, as in PyTorch,
/// which are 0 at first; in the paper they are drawn, too.
ValueId build_lstm_lm(NetworkBuilder& net, std::span<const ValueId> inputs) {
  constexpr std::int64_t kUnits = 650;
  constexpr int kLayers = 2;
  constexpr double kKeep = 0.5;
  const Initializer small = uniform_within(0.05);
  ValueId x = net.embedding("embedding", inputs[0],
                            {.rows = net.num_classes(), .columns = kUnits, .initial = small});
  for (int layer = 0; layer < kLayers; ++layer) {
    const std::string path = net.next("lstm");
    // Examples come first in dropout, steps come first in the layer.
    x = net.dropout(path + "/dropout", x, kKeep);
    x = net.swap_axes(path + "/time_major", x);
    x = net.rnn(path, x, {.attributes = {.hidden_bias = true}, .units = kUnits, .initial = small});
    x = net.swap_axes(path + "/batch_major", x);
  }
  x = net.dropout("dropout", x, kKeep);
  const Shape& states = net.shape(x);
  x = net.reshape("rows", x, {states[0] * states[1], states[2]});
  return net.fully_connected(
      "fc", x,
      {.outputs = net.num_classes(), .initial = [=](const Fans& /*fans*/) { return small; }});
}

}  // namespace

extern const NumberModel kLstmLm{.example = "sequence",
                                 .unit = {.name = "tokens", .per_example = kSteps},
                                 .inputs = inputs_of,
                                 .build = build_lstm_lm,
                                 .metric = ModelMetric::perplexity};

}  // namespace bench
