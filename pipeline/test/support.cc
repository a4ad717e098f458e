#include "pipeline/test/support.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "models/base/philox.h"
#include "pipeline/formats/example_writer.h"
#include "pipeline/formats/tfrecord_writer.h"

namespace bench::test {

TemporaryFolder::TemporaryFolder() {
  std::string pattern = std::filesystem::temp_directory_path() / "bench_pipeline_XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw std::runtime_error("no temporary folder");
  }
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void write_file(const std::string& path, std::string_view contents) {
  // Some file systems flush a file that is truncated and rewritten; creating a new one is faster.
  std::filesystem::remove(path);
  std::ofstream out(path, std::ios::binary);
  out.write(contents.data(), static_cast<std::streamsize>(contents.size()));
}

std::vector<std::uint8_t> wavy_samples(const Picture& picture) {
  RandomStream random(picture.seed);
  std::vector<float> speed_x;
  std::vector<float> speed_y;
  for (int c = 0; c < picture.components; ++c) {
    speed_x.push_back(0.05F + 0.3F * random.uniform());
    speed_y.push_back(0.05F + 0.3F * random.uniform());
  }
  std::vector<std::uint8_t> samples;
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      for (std::size_t c = 0; c < speed_x.size(); ++c) {
        const float wave = std::sin(speed_x[c] * static_cast<float>(x)) *
                           std::cos(speed_y[c] * static_cast<float>(y));
        samples.push_back(static_cast<std::uint8_t>(128 + 110 * wave + 16 * random.uniform()));
      }
    }
  }
  return samples;
}

std::string wavy_jpeg(const Picture& picture, const JpegEncoding& encoding) {
  const auto samples = wavy_samples(picture);
  return encode_jpeg({.samples = samples,
                      .width = picture.width,
                      .height = picture.height,
                      .components = picture.components},
                     encoding);
}

std::string flat_jpeg(int width, int height, std::uint8_t value) {
  const std::vector<std::uint8_t> samples(static_cast<std::size_t>(3 * width * height), value);
  return encode_jpeg({.samples = samples, .width = width, .height = height}, {.quality = 100});
}

std::string image_example(std::string_view jpeg, std::int64_t label) {
  return ExampleWriter()
      .bytes("image/encoded", jpeg)
      .integer("image/class/label", label)
      .serialize();
}

std::vector<std::string> examples(int count) {
  std::vector<std::string> out;
  for (int i = 1; i <= count; ++i) {
    const Picture picture{.width = 40 + i, .height = 90 - i, .seed = static_cast<std::uint64_t>(i)};
    out.push_back(image_example(wavy_jpeg(picture), i));
  }
  return out;
}

void write_shards(const TemporaryFolder& folder, const ShardSet& set,
                  const std::vector<std::string>& examples) {
  for (int shard = 0; shard < set.shards; ++shard) {
    char name[64];
    std::snprintf(name, sizeof(name), "%s-%05d-of-%05d", set.prefix.c_str(), shard, set.shards);
    TfRecordWriter writer(folder.file(name));
    for (std::size_t i = static_cast<std::size_t>(shard); i < examples.size();
         i += static_cast<std::size_t>(set.shards)) {
      writer.write(examples[i]);
    }
    writer.finish();
  }
}

InputSpec small_spec(std::int64_t batch) {
  return {.batch = batch,
          .channels = 3,
          .height = 20,
          .width = 24,
          .layout = SlotLayout::nchw,
          .num_classes = 101,
          .seed = 42};
}

Batches take(InputSource& input, std::int64_t batch, int count) {
  Batches out;
  for (int i = 0; i < count; ++i) {
    const InputBatch next = input.next();
    out.images.insert(out.images.end(), next.images,
                      next.images + static_cast<std::size_t>(batch) * kImage);
    out.labels.insert(out.labels.end(), next.labels, next.labels + batch);
  }
  return out;
}

}  // namespace bench::test
