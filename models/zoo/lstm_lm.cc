#include "models/zoo/torch_init.h"

namespace bench {

/// The medium language model of Zaremba et al., arXiv:1409.2329: two layers of 650 units, dropout
/// of every second element, and weights within 0.05. It predicts the next word after each word of a
/// sequence, and each sequence starts from a zero state. A gate has two biases, as in PyTorch,
/// which are 0 at first; in the paper they are drawn, too.
ValueId build_lstm_lm(NetworkBuilder& net, ValueId tokens) {
  constexpr std::int64_t kUnits = 650;
  constexpr int kLayers = 2;
  constexpr double kKeep = 0.5;
  const Initializer small = uniform_within(0.05);
  ValueId x = net.embedding("embedding", tokens,
                            {.rows = net.num_classes(), .columns = kUnits, .initial = small});
  for (int layer = 0; layer < kLayers; ++layer) {
    const std::string path = net.next("lstm");
    // Examples come first in dropout, steps come first in the layer.
    x = net.dropout(path + "/dropout", x, kKeep);
    x = net.swap_axes(path + "/time_major", x);
    x = net.lstm(path, x, {.units = kUnits, .initial = small});
    x = net.swap_axes(path + "/batch_major", x);
  }
  x = net.dropout("dropout", x, kKeep);
  const Shape& states = net.shape(x);
  x = net.reshape("rows", x, {states[0] * states[1], states[2]});
  return net.fully_connected(
      "fc", x,
      {.outputs = net.num_classes(), .initial = [=](const Fans& /*fans*/) { return small; }});
}

}  // namespace bench
