#include <array>
#include <cmath>
#include <span>
#include <string>

#include "models/base/dataset_sizes.h"
#include "models/zoo/torch_init.h"
#include "models/zoo/zoo.h"

namespace bench {
namespace {

constexpr std::int64_t kClasses = 2;

std::vector<ExampleInput> inputs_of(std::int64_t /*num_classes*/) {
  return {{.name = "users", .bound = kMovielensUsers},
          {.name = "items", .bound = kMovielensItems},
          {.name = "labels", .bound = kClasses}};
}

/// Uniform with variance 1 / fan in; LeCun et al., "Efficient BackProp", 1998.
Initializer lecun_uniform(const Fans& fans) { return uniform_within(std::sqrt(3 / fans.in)); }

/// Neural matrix factorization: He et al., "Neural Collaborative Filtering", arXiv:1708.05031, as
/// in MLPerf. A row of a table has 64 factors, which are multiplied, and 128 that three layers
/// read. tf_cnn_benchmarks pairs the logit with a constant 1. Here it is paired with 0, and its
/// bias is -1 at first: the same probabilities and gradients. Only the decay of this bias differs.
ValueId build_ncf(NetworkBuilder& net, std::span<const ValueId> inputs) {
  constexpr std::int64_t kFactors = 64;
  constexpr std::array<std::int64_t, 4> kWidths{256, 256, 128, 64};
  const std::int64_t features = kWidths[0] / 2;
  const auto table = [&](const char* path, ValueId ids, std::int64_t rows) {
    const std::int64_t columns = kFactors + features;
    const Fans fans{.in = static_cast<double>(rows), .out = static_cast<double>(columns)};
    return net.embedding(path, ids,
                         {.rows = rows, .columns = columns, .initial = glorot_uniform(fans)});
  };
  const ValueId user = table("embedding_user", inputs[0], kMovielensUsers);
  const ValueId item = table("embedding_item", inputs[1], kMovielensItems);
  const ValueId factors =
      net.multiply("factors", net.channel_slice("embedding_user/factors", user, 0, kFactors),
                   net.channel_slice("embedding_item/factors", item, 0, kFactors));
  ValueId x = net.concat(
      "features",
      std::array{net.channel_slice("embedding_user/features", user, kFactors, features),
                 net.channel_slice("embedding_item/features", item, kFactors, features)});
  for (const std::int64_t width : std::span(kWidths).subspan(1)) {
    const std::string path = net.next("fc");
    x = net.fully_connected(path, x, {.outputs = width, .initial = glorot_uniform});
    x = net.relu(path + "/relu", x);
  }
  x = net.concat("joined", std::array{factors, x});
  x = net.fully_connected("rating", x, {.outputs = 1, .bias_value = -1, .initial = lecun_uniform});
  return net.channel_pad("pair", x, 1, 0);
}

}  // namespace

extern const NumberModel kNcf{
    .example = "pair", .unit = {.name = "examples"}, .inputs = inputs_of, .build = build_ncf};

}  // namespace bench
