#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "models/base/errors.h"
#include "pipeline/fuzz/target.h"
#include "pipeline/input.h"

namespace {

constexpr std::size_t kRecordBytes = 3073;
constexpr std::int64_t kBatch = 2;
/// The first byte is at least this for the Python version.
constexpr std::uint8_t kPickled = 128;
constexpr std::size_t kElements = 3UL * 32 * 32 * kBatch;

/// A folder with one file, which each call replaces.
std::string folder_with(std::string_view file, const char* name) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("bench_cifar10_fuzz_{}", ::getpid());
  std::filesystem::create_directories(folder);
  std::filesystem::remove(folder / "data_batch_1.bin");
  std::ofstream(folder / name, std::ios::binary) << file;
  return folder;
}

void read_batches(const std::string& folder, std::uint8_t choices) {
  const auto input = bench::make_cifar10_input(
      {.batch = kBatch, .height = 32, .width = 32, .num_classes = 11, .seed = choices},
      {.data_dir = folder,
       .num_threads = 1,
       .distortions = choices % 2 == 1,
       .bad_records = {.skip = choices / 2 % 2 == 1}});
  for (int i = 0; i < 3; ++i) {
    const bench::InputBatch batch = input->next();
    for (std::size_t element = 0; element < kElements; ++element) {
      if (!(std::fabs(batch.images[element]) <= 1)) {
        std::abort();
      }
    }
  }
}

/// Two images in the Python version, as protocol 2 writes them.
std::string pickled_seed(const std::string& labels) {
  using namespace std::string_literals;
  const std::string images(2 * (kRecordBytes - 1), 'p');
  return static_cast<char>(kPickled) + "\x80\x02}q\x01(U\x04"s + "data"s +
         "cnumpy.core.multiarray\n_reconstruct\nq\x03"s + "cnumpy\nndarray\nK\x00\x85U\x01"s +
         "b\x87R(K\x01K\x02M\x00\x0c\x86"s + "cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R"s +
         "(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89T\x00\x18\x00\x00"s + images +
         "tbU\x06labels"s + labels + "u.";
}

}  // namespace

/// The first byte chooses options, the version of CIFAR-10, and whether the others are cut to whole
/// records of the binary version. They are a file. All values must be from -1 to 1.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  std::string_view file(reinterpret_cast<const char*>(data + 1), size - 1);
  const bool pickled = data[0] >= kPickled;
  if (!pickled && data[0] / 4 % 4 != 0) {
    file.remove_suffix(file.size() % kRecordBytes);
  }
  const std::string folder = folder_with(file, pickled ? "data_batch_1" : "data_batch_1.bin");
  try {
    read_batches(folder, data[0]);
  } catch (const bench::DataError&) {
    // Malformed files end here.
  }
  std::filesystem::remove_all(folder);
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds;
  for (int choices = 0; choices < 8; ++choices) {
    std::string seed(1, static_cast<char>(4 + choices));
    for (int record = 0; record < 3; ++record) {
      seed.push_back(static_cast<char>(record));
      for (std::size_t i = 1; i < kRecordBytes; ++i) {
        seed.push_back(static_cast<char>(i * i / 5));
      }
    }
    seeds.push_back(seed);
  }
  seeds.push_back(
      pickled_seed("](K\x02K\x03"
                   "e"));
  return seeds;
}
