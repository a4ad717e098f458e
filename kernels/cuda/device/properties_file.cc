#include "kernels/cuda/device/properties_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "models/base/errors.h"
#include "models/base/text.h"

namespace bench::cuda {
namespace {

using Json = nlohmann::ordered_json;

/// Calls visit(name, number) for each rate of a card's speeds.
template <class Speeds, class Visit>
void for_each_speed(Speeds& speeds, const Visit& visit) {
  visit("bytes_per_second", speeds.bytes_per_second);
  visit("flops_per_second_16", speeds.flops_per_second_16);
  visit("flops_per_second_tf32", speeds.flops_per_second_tf32);
  visit("flops_per_second_32", speeds.flops_per_second_32);
}

/// The same for each number that a description must have.
template <class Properties, class Visit>
void for_each_number(Properties& device, const Visit& visit) {
  visit("capability", device.capability);
  visit("multiprocessors", device.multiprocessors);
  visit("max_threads_per_multiprocessor", device.max_threads_per_multiprocessor);
  visit("max_blocks_per_multiprocessor", device.max_blocks_per_multiprocessor);
  visit("max_shared_memory_per_block", device.max_shared_memory_per_block);
  visit("shared_memory_per_multiprocessor", device.shared_memory_per_multiprocessor);
  visit("l2_bytes", device.l2_bytes);
  visit("memory_bytes", device.memory_bytes);
  visit("clock_khz", device.clock_khz);
  visit("memory_clock_khz", device.memory_clock_khz);
  for_each_speed(device.sheet, visit);
}

template <class T>
T positive_number(const Json& value, const std::string& name) {
  const auto refuse = [&] {
    const std::string given = printable(value.dump());
    return UsageError(std::is_integral_v<T>
                          ? fmt::format("{} is {}, not a positive whole number", name, given)
                          : fmt::format("{} is {}, not a positive number", name, given));
  };
  if (!(std::is_integral_v<T> ? value.is_number_integer() : value.is_number())) {
    throw refuse();
  }
  // Above the 64-bit range there are only doubles.
  const auto number = value.get<double>();
  if (!(number > 0) || number > static_cast<double>(std::numeric_limits<T>::max()) / 2) {
    throw refuse();
  }
  return value.get<T>();
}

const Json& member(const Json& object, const std::string& name) {
  const auto found = object.find(name);
  if (found == object.end()) {
    throw UsageError(fmt::format("the description has no \"{}\"", name));
  }
  return *found;
}

void check_capability(int capability) {
  const auto cards = described_cards();
  if (std::ranges::find(cards, capability, &DeviceProperties::capability) != cards.end()) {
    return;
  }
  std::string known;
  for (const DeviceProperties& card : cards) {
    known += known.empty() ? "" : ", ";
    known += fmt::format("{}", card.capability);
  }
  throw UsageError(fmt::format("capability is {}, not one of {}", capability, known));
}

DeviceProperties parse_description(const Json& description) {
  if (!description.is_object()) {
    throw UsageError("the file does not describe a GPU");
  }
  DeviceProperties device;
  const Json& name = member(description, "name");
  if (!name.is_string()) {
    throw UsageError(fmt::format("name is {}, not a string", printable(name.dump())));
  }
  device.name = name.get<std::string>();
  for_each_number(device, [&]<class T>(const std::string& key, T& number) {
    number = positive_number<T>(member(description, key), key);
  });
  check_capability(device.capability);
  return device;
}

/// The description that all cards in gpu_properties' output share.
const Json& description_of(const Json& whole) {
  if (!whole.is_object() || !whole.contains("gpus")) {
    return whole;
  }
  const Json& gpus = whole.at("gpus");
  if (!gpus.is_array() || gpus.empty() ||
      !std::ranges::all_of(gpus, [](const Json& gpu) { return gpu.is_object(); })) {
    throw UsageError("\"gpus\" is not a list of GPUs");
  }
  const Json& first = member(gpus.front(), "description");
  if (std::ranges::any_of(gpus,
                          [&](const Json& gpu) { return member(gpu, "description") != first; })) {
    throw UsageError("the file describes GPUs that differ; keep only the one to plan for");
  }
  return first;
}

std::string text_of_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    throw UsageError("this is neither a known GPU nor an existing file");
  }
  // Opening a FIFO without a writer would block the program here.
  if (!std::filesystem::is_regular_file(path, error)) {
    throw UsageError("this is not a regular file");
  }
  std::ifstream stream(path);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream) {
    throw UsageError("the file cannot be read");
  }
  return text;
}

}  // namespace

std::string description_json(const DeviceProperties& device) {
  Json description{{"name", device.name}};
  for_each_number(device, [&](const char* key, const auto& number) { description[key] = number; });
  return description.dump();
}

DeviceProperties read_description(const std::string& path) {
  const Json whole = Json::parse(text_of_file(path), nullptr, /*allow_exceptions=*/false);
  if (whole.is_discarded()) {
    throw UsageError("the file is not JSON");
  }
  return parse_description(description_of(whole));
}

}  // namespace bench::cuda
