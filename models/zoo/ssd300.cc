#include <array>
#include <string>
#include <vector>

#include "models/base/default_boxes.h"
#include "models/zoo/residual.h"
#include "models/zoo/torch_init.h"
#include "models/zoo/zoo.h"

namespace bench {
namespace {

constexpr std::int64_t kCoordinates = 4;
/// On average, 26 boxes of an image match an object.
constexpr double kMatchedShare = 0.003;

std::vector<ExampleInput> inputs_of(std::int64_t num_classes) {
  return {{.name = "target_offsets", .dtype = DType::f32, .shape = {kDefaultBoxes, kCoordinates}},
          {.name = "classes",
           .shape = {kDefaultBoxes},
           .least = 1,
           .bound = num_classes,
           .share = kMatchedShare}};
}

ValueId conv(NetworkBuilder& net, const std::string& path, ValueId x, std::int64_t channels,
             const WindowSpec& window) {
  return net.conv(path, x, {.channels = channels, .window = window, .initial = glorot_uniform});
}

/// A 1x1 convolution with `channels`, then a 3x3 one with twice as many.
ValueId add_layer(NetworkBuilder& net, ValueId x, std::int64_t channels, const WindowSpec& window) {
  const std::string path = net.next("extra.");
  x = net.relu(path + ".relu1", conv(net, path + ".conv1", x, channels, {}));
  return net.relu(path + ".relu2", conv(net, path + ".conv2", x, 2 * channels, window));
}

/// Predicts `per_box` numbers for each of the boxes of a map[N,C,H,W]. The result is a matrix with
/// a row per example, and in it the order of the boxes: boxes of a cell, rows, columns.
ValueId predict(NetworkBuilder& net, const std::string& kind, ValueId map, std::int64_t boxes,
                std::int64_t per_box) {
  const std::string path = net.next(kind);
  const ValueId y = conv(net, path, map, boxes * per_box, {.kernel = 3});
  const Shape shape = net.shape(y);
  const std::int64_t cells = shape[2] * shape[3];
  ValueId rows = net.reshape(path + "/cells", y, {shape[0] * boxes, per_box, cells});
  rows = net.swap_axes(path + "/boxes", rows, 1);
  return net.reshape(path + "/rows", rows, {shape[0], boxes * cells * per_box});
}

/// Liu et al., "SSD: Single Shot MultiBox Detector", arXiv:1512.02325, as in tf_cnn_benchmarks and
/// MLPerf. The first three stages of ResNet-34, the third with a stride of 1, come before five
/// pairs of convolutions. Six maps predict four offsets and a score per class for each default box:
/// logits[N*8732,4+classes].
ValueId build_ssd300(NetworkBuilder& net, std::span<const ValueId> inputs) {
  ValueId x = build_residual_stages(net, inputs[0],
                                    {.blocks = {3, 4, 6, 0},
                                     .strides = {1, 2, 1, 1},
                                     .bottleneck = false,
                                     .norm = {.epsilon = 1e-4, .decay = 0.997, .scale = true}});
  std::vector<ValueId> maps{x};
  constexpr WindowSpec kHalve{.kernel = 3, .stride = 2};
  constexpr WindowSpec kShrink{.kernel = 3, .padding = Padding::valid};
  for (const auto& [channels, window] : {std::pair<std::int64_t, WindowSpec>{256, kHalve},
                                         {256, kHalve},
                                         {128, kHalve},
                                         {128, kShrink},
                                         {128, kShrink}}) {
    maps.push_back(add_layer(net, maps.back(), channels, window));
  }
  std::vector<ValueId> offsets;
  std::vector<ValueId> scores;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const std::int64_t boxes = kDefaultBoxMaps.at(i).boxes_per_cell();
    offsets.push_back(predict(net, "offsets.", maps[i], boxes, kCoordinates));
    scores.push_back(predict(net, "scores.", maps[i], boxes, net.num_classes()));
  }
  const std::int64_t boxes = net.shape(maps[0])[0] * kDefaultBoxes;
  const std::array parts{
      net.reshape("offsets", net.concat("all_offsets", offsets), {boxes, kCoordinates}),
      net.reshape("scores", net.concat("all_scores", scores), {boxes, net.num_classes()})};
  return net.concat("logits", parts);
}

ValueId ssd300_loss(NetworkBuilder& net, ValueId logits, std::span<const ValueId> inputs) {
  const std::int64_t examples = net.shape(inputs[0])[0];
  const auto part = [&](const char* name, std::int64_t begin, std::int64_t count) {
    return net.reshape(fmt::format("loss/{}", name),
                       net.channel_slice(fmt::format("loss/{}_slice", name), logits, begin, count),
                       {examples, kDefaultBoxes, count});
  };
  return net.multibox_loss("loss", {.offsets = part("offsets", 0, kCoordinates),
                                    .scores = part("scores", kCoordinates, net.num_classes()),
                                    .target_offsets = inputs[0],
                                    .classes = inputs[1]});
}

}  // namespace

extern const NumberModel kSsd300{.example = "image",
                                 .unit = {},
                                 .inputs = inputs_of,
                                 .loss_inputs = 2,
                                 .build = build_ssd300,
                                 .loss = ssd300_loss,
                                 .metric = ModelMetric::average_precision};

}  // namespace bench
