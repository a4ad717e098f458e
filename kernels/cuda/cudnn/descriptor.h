#pragma once

#include <cudnn.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/dtype.h"

namespace bench::cuda {

/// Throws DeviceError with the call, the status and cuDNN's message unless the status is
/// CUDNN_STATUS_SUCCESS.
void check_cudnn(cudnnStatus_t status, std::string_view call);

/// Throws InternalError for a type other than f32, f16 and bf16.
cudnnDataType_t data_type(DType dtype);

/// One of cuDNN's descriptors: set its attributes, finalise it, then read. Descriptors that were
/// passed to it may be destroyed before it. Throws DeviceError if cuDNN refuses a call.
class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type);
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();

  [[nodiscard]] cudnnBackendDescriptor_t get() const { return descriptor_; }

  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
           const void* elements);
  void set_integer(cudnnBackendAttributeName_t name, std::int64_t value);
  void set_integers(cudnnBackendAttributeName_t name, std::span<const std::int64_t> values);
  void set_float(cudnnBackendAttributeName_t name, float value);
  void set_text(cudnnBackendAttributeName_t name, std::string_view text);
  void set_handle(cudnnBackendAttributeName_t name, cudnnHandle_t handle);
  void set_descriptor(cudnnBackendAttributeName_t name, const Descriptor& value);
  void set_descriptors(cudnnBackendAttributeName_t name, std::span<const Descriptor> values);
  /// Sets an element of one of cuDNN's enumerations, with the matching attribute type.
  template <class T>
  void set_value(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                 const T& value) {
    set(name, type, 1, &value);
  }
  void finalize();
  /// Finalises the descriptor and returns true if cuDNN supports the request. Throws DeviceError if
  /// it fails for another reason.
  [[nodiscard]] bool try_finalize();

  [[nodiscard]] std::int64_t integer(cudnnBackendAttributeName_t name) const;
  [[nodiscard]] std::string text(cudnnBackendAttributeName_t name) const;
  [[nodiscard]] Descriptor descriptor(cudnnBackendAttributeName_t name,
                                      cudnnBackendDescriptorType_t type) const;
  /// The first elements of an attribute, at most `most`.
  [[nodiscard]] std::vector<Descriptor> descriptors(cudnnBackendAttributeName_t name,
                                                    cudnnBackendDescriptorType_t type,
                                                    std::int64_t most) const;
  /// All elements of an attribute of integers or of an enumeration.
  template <class T>
  [[nodiscard]] std::vector<T> values(cudnnBackendAttributeName_t name,
                                      cudnnBackendAttributeType_t type) const {
    std::vector<T> result(static_cast<std::size_t>(read(name, type, 0, nullptr)));
    if (!result.empty()) {
      const std::int64_t count =
          read(name, type, static_cast<std::int64_t>(result.size()), result.data());
      result.resize(static_cast<std::size_t>(count));
    }
    return result;
  }

 private:
  void check_finalized(cudnnStatus_t status) const;
  /// Reads at most `room` elements and returns how many the attribute has.
  std::int64_t read(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                    std::int64_t room, void* elements) const;

  cudnnBackendDescriptorType_t type_;
  cudnnBackendDescriptor_t descriptor_ = nullptr;
};

}  // namespace bench::cuda
