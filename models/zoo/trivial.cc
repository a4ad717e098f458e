#include "models/zoo/builder.h"

namespace bench {

/// Two fully connected layers, the first with a single output: next to no work, to bound what
/// everything around a network costs.
ValueId build_trivial(NetworkBuilder& net, ValueId images) {
  ValueId x = net.flatten("flatten", images);
  x = net.relu("relu0", net.fully_connected("fc0", x, 1, /*gain=*/2));
  return net.relu("relu1", net.fully_connected("fc1", x, 4096, /*gain=*/2));
}

}  // namespace bench
