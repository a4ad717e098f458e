#include "models/zoo/inception_module.h"

#include <utility>

#include "models/base/errors.h"
#include "models/zoo/layers.h"

namespace bench {

ValueId inception_module(NetworkBuilder& net, ValueId x, const std::vector<ModuleColumn>& columns,
                         const ModuleConv& conv) {
  std::vector<ValueId> results;
  std::vector<ValueId> left;
  for (const ModuleColumn& column : columns) {
    std::vector<ValueId> made;
    ValueId last = x;
    for (const ModuleLayer& layer : column) {
      switch (layer.kind) {
        case ModuleLayer::Kind::conv:
          last = conv(last, {.channels = layer.channels, .window = layer.window});
          break;
        case ModuleLayer::Kind::max_pool:
          last = max_pool(net, last, layer.window);
          break;
        case ModuleLayer::Kind::avg_pool:
          last = avg_pool(net, last, layer.window);
          break;
        case ModuleLayer::Kind::share:
          check(made.size() < left.size(),
                "inception_module: the branch to the left has too few layers to share");
          last = left[made.size()];
          break;
      }
      made.push_back(last);
    }
    results.push_back(last);
    left = std::move(made);
  }
  return net.concat(net.next("concat"), results);
}

}  // namespace bench
