#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

#include "models/base/errors.h"
#include "models/base/tensor_file.h"

namespace bench {
namespace {

constexpr std::size_t kAlignment = 8;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint64_t bytes_of(const TensorToWrite& tensor) {
  std::uint64_t bytes = size_of(tensor.type);
  for (const std::int64_t extent : tensor.shape) {
    bytes *= static_cast<std::uint64_t>(extent);
  }
  return bytes;
}

}  // namespace

void write_tensor_file(const AtomicFile& file, std::span<const TensorToWrite> tensors,
                       const std::map<std::string, std::string>& metadata) {
  if (tensors.size() > kMostStoredTensors) {
    throw WriteError(fmt::format("{} tensors do not fit into a tensor file; at most {} do",
                                 tensors.size(), kMostStoredTensors));
  }
  // Large elements first, so that each one is at a multiple of its size.
  std::vector<const TensorToWrite*> order;
  for (const TensorToWrite& tensor : tensors) {
    order.push_back(&tensor);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return size_of(a->type) > size_of(b->type);
  });
  auto header = nlohmann::ordered_json::object();
  if (!metadata.empty()) {
    header["__metadata__"] = metadata;
  }
  std::vector<std::string_view> parts(2);
  std::uint64_t offset = 0;
  for (const TensorToWrite* tensor : order) {
    check(tensor->data.size() == bytes_of(*tensor),
          fmt::format("{}: the data does not have the size of the shape", tensor->name));
    check(!header.contains(tensor->name),
          fmt::format("{}: two tensors have this name", tensor->name));
    header[tensor->name] = {{"dtype", name_of(tensor->type)},
                            {"shape", tensor->shape},
                            {"data_offsets", {offset, offset + tensor->data.size()}}};
    offset += tensor->data.size();
    parts.push_back(text_of(tensor->data));
  }
  std::string json = header.dump();
  json.resize((json.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  if (json.size() > kMostHeaderBytes) {
    throw WriteError(fmt::format("the header of the tensor file needs {} bytes; at most {} fit",
                                 json.size(), kMostHeaderBytes));
  }
  const std::uint64_t length = json.size();
  parts[0] = text_of(std::as_bytes(std::span(&length, 1)));
  parts[1] = json;
  file.write(parts);
}

}  // namespace bench
