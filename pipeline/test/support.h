#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/formats/jpeg_encoder.h"
#include "pipeline/input.h"

namespace bench::test {

/// A temporary folder for one test, removed at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(TemporaryFolder&&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string file(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

std::string read_file(const std::string& path);
void write_file(const std::string& path, std::string_view contents);

/// How to draw a picture: smooth waves in each component, which depend on the seed.
struct Picture {
  int width = 64;
  int height = 48;
  int components = 3;
  std::uint64_t seed = 1;
};
std::vector<std::uint8_t> wavy_samples(const Picture& picture);
std::string wavy_jpeg(const Picture& picture, const JpegEncoding& encoding = {});
/// A JPEG in which all samples equal `value`.
std::string flat_jpeg(int width, int height, std::uint8_t value);

/// A serialized Example with an image and a label.
std::string image_example(std::string_view jpeg, std::int64_t label);

/// Examples with `count` different images, labelled 1, 2, ...
std::vector<std::string> examples(int count);

/// Writes the files `<prefix>-<i>-of-<shards>`, with the examples dealt out in turn.
struct ShardSet {
  std::string prefix = "train";
  int shards = 2;
};
void write_shards(const TemporaryFolder& folder, const ShardSet& set,
                  const std::vector<std::string>& examples);

/// The elements of an image of small_spec().
inline constexpr std::size_t kImage = 3UL * 20 * 24;
/// Images of 24 x 20 pixels.
InputSpec small_spec(std::int64_t batch);

/// The f32 images and the labels of batches.
struct Batches {
  std::vector<float> images;
  std::vector<std::int32_t> labels;
  bool operator==(const Batches&) const = default;
};
/// The next `count` batches of an input of small_spec(batch).
Batches take(InputSource& input, std::int64_t batch, int count);

/// The message of the exception of type Error that `action` throws; "" if it throws no such
/// exception.
template <class Error, class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace bench::test
