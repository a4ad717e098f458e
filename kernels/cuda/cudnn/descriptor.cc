#include "kernels/cuda/cudnn/descriptor.h"

#include <array>
#include <utility>

#include "models/base/errors.h"

namespace bench::cuda {
namespace {

/// The status, and cuDNN's message for the last error on this thread.
std::string why(cudnnStatus_t status) {
  std::array<char, 1024> message = {};
  cudnnGetLastErrorString(message.data(), message.size());
  if (message[0] == '\0') {
    return cudnnGetErrorString(status);
  }
  return fmt::format("{}: {}", cudnnGetErrorString(status), message.data());
}

[[noreturn]] void fail(cudnnStatus_t status, std::string_view call, int descriptor, int attribute) {
  throw DeviceError(fmt::format("{} (descriptor {}, attribute {}): {}", call, descriptor, attribute,
                                why(status)));
}

}  // namespace

void check_cudnn(cudnnStatus_t status, std::string_view call) {
  if (status != CUDNN_STATUS_SUCCESS) {
    throw DeviceError(fmt::format("{}: {}", call, why(status)));
  }
}

cudnnDataType_t data_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return CUDNN_DATA_FLOAT;
    case DType::f16:
      return CUDNN_DATA_HALF;
    case DType::bf16:
      return CUDNN_DATA_BFLOAT16;
    default:
      throw InternalError(fmt::format("cudnn: layers in {} are not supported", name_of(dtype)));
  }
}

Descriptor::Descriptor(cudnnBackendDescriptorType_t type) : type_(type) {
  check_cudnn(cudnnBackendCreateDescriptor(type, &descriptor_), "cudnnBackendCreateDescriptor");
}

Descriptor::Descriptor(Descriptor&& other) noexcept
    : type_(other.type_), descriptor_(std::exchange(other.descriptor_, nullptr)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(type_, other.type_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

Descriptor::~Descriptor() {
  if (descriptor_ != nullptr) {
    static_cast<void>(cudnnBackendDestroyDescriptor(descriptor_));
  }
}

void Descriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                     std::int64_t count, const void* elements) {
  const cudnnStatus_t status = cudnnBackendSetAttribute(descriptor_, name, type, count, elements);
  if (status != CUDNN_STATUS_SUCCESS) {
    fail(status, "cudnnBackendSetAttribute", type_, name);
  }
}

void Descriptor::set_integer(cudnnBackendAttributeName_t name, std::int64_t value) {
  set(name, CUDNN_TYPE_INT64, 1, &value);
}

void Descriptor::set_integers(cudnnBackendAttributeName_t name,
                              std::span<const std::int64_t> values) {
  set(name, CUDNN_TYPE_INT64, static_cast<std::int64_t>(values.size()), values.data());
}

void Descriptor::set_float(cudnnBackendAttributeName_t name, float value) {
  set(name, CUDNN_TYPE_FLOAT, 1, &value);
}

void Descriptor::set_text(cudnnBackendAttributeName_t name, std::string_view text) {
  set(name, CUDNN_TYPE_CHAR, static_cast<std::int64_t>(text.size()), text.data());
}

void Descriptor::set_handle(cudnnBackendAttributeName_t name, cudnnHandle_t handle) {
  // NOLINTNEXTLINE(bugprone-sizeof-expression): the attribute is the handle, a pointer.
  set(name, CUDNN_TYPE_HANDLE, 1, &handle);
}

void Descriptor::set_descriptor(cudnnBackendAttributeName_t name, const Descriptor& value) {
  set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value.descriptor_);
}

void Descriptor::set_descriptors(cudnnBackendAttributeName_t name,
                                 std::span<const Descriptor> values) {
  std::vector<cudnnBackendDescriptor_t> all;
  all.reserve(values.size());
  for (const Descriptor& value : values) {
    all.push_back(value.descriptor_);
  }
  set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<std::int64_t>(all.size()), all.data());
}

void Descriptor::check_finalized(cudnnStatus_t status) const {
  if (status != CUDNN_STATUS_SUCCESS) {
    throw DeviceError(fmt::format("cudnnBackendFinalize (descriptor {}): {}",
                                  static_cast<int>(type_), why(status)));
  }
}

void Descriptor::finalize() { check_finalized(cudnnBackendFinalize(descriptor_)); }

bool Descriptor::try_finalize() {
  const cudnnStatus_t status = cudnnBackendFinalize(descriptor_);
  if (CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED) {
    return false;
  }
  check_finalized(status);
  return true;
}

std::int64_t Descriptor::read(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                              std::int64_t room, void* elements) const {
  std::int64_t count = 0;
  const cudnnStatus_t status =
      cudnnBackendGetAttribute(descriptor_, name, type, room, &count, elements);
  if (status != CUDNN_STATUS_SUCCESS) {
    fail(status, "cudnnBackendGetAttribute", type_, name);
  }
  return count;
}

std::int64_t Descriptor::integer(cudnnBackendAttributeName_t name) const {
  std::int64_t value = 0;
  read(name, CUDNN_TYPE_INT64, 1, &value);
  return value;
}

std::string Descriptor::text(cudnnBackendAttributeName_t name) const {
  const std::vector<char> characters = values<char>(name, CUDNN_TYPE_CHAR);
  std::string result(characters.begin(), characters.end());
  // The count includes the terminator.
  while (!result.empty() && result.back() == '\0') {
    result.pop_back();
  }
  return result;
}

Descriptor Descriptor::descriptor(cudnnBackendAttributeName_t name,
                                  cudnnBackendDescriptorType_t type) const {
  Descriptor result(type);
  read(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &result.descriptor_);
  return result;
}

std::vector<Descriptor> Descriptor::descriptors(cudnnBackendAttributeName_t name,
                                                cudnnBackendDescriptorType_t type,
                                                std::int64_t most) const {
  // Does not ask for the count: cuDNN then reports no knobs, and more heuristic results than it
  // returns.
  std::vector<Descriptor> result;
  std::vector<cudnnBackendDescriptor_t> places;
  for (std::int64_t i = 0; i < most; ++i) {
    places.push_back(result.emplace_back(type).descriptor_);
  }
  const std::int64_t count =
      read(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most, static_cast<void*>(places.data()));
  result.erase(result.begin() + count, result.end());
  return result;
}

}  // namespace bench::cuda
