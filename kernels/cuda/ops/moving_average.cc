#include "kernels/cuda/gpu/moving_average.h"

#include "kernels/cuda/device/context.h"
#include "models/ops/moving_average.h"

namespace bench::cuda {

std::vector<Candidate> moving_average(Context& context, const Graph& graph, const Node& node,
                                      DataFormat /*format*/) {
  std::vector<MovingAverage> averages;
  std::vector<Candidate::Overwrite> overwrites;
  for (const Averaging& pair : node.attributes.as<MovingAverageAttributes>().pairs) {
    const std::size_t i = averages.size();
    averages.push_back({.count = graph.shape(node.outputs[i]).elements(),
                        .decay = pair.decay,
                        .factor = pair.factor});
    overwrites.push_back({.output = i, .input = 2 * i});
  }
  const int launches = moving_average_launches(averages.size());
  Candidate candidate = gpu_candidate(
      context, graph, node, layouts_of(graph, node.inputs, nchw()),
      layouts_of(graph, node.outputs, nchw()), [averages](const Launch& launch) mutable {
        for (int i = 0; i < static_cast<int>(averages.size()); ++i) {
          MovingAverage& average = averages[static_cast<std::size_t>(i)];
          average.running = launch.floats_in(2 * i);
          average.batch = launch.floats_in(2 * i + 1);
          average.y = launch.floats_out(i);
        }
        moving_averages(launch.stream, averages);
      });
  candidate.launches = launches;
  candidate.may_overwrite = std::move(overwrites);
  return {candidate};
}

}  // namespace bench::cuda
