#include "models/zoo/builder.h"

namespace bench {

/// Two fully connected layers, the first with a single output: next to no work, to bound what
/// everything around a network costs.
ValueId build_trivial(NetworkBuilder& net, ValueId images) {
  ValueId x = net.flatten("flatten", images);
  x = net.fully_connected("fc0", x, {.outputs = 1, .initial = cut_normal(2)});
  x = net.fully_connected("fc1", net.relu("relu0", x), {.outputs = 4096, .initial = cut_normal(2)});
  return net.head(net.relu("relu1", x));
}

}  // namespace bench
