#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "models/base/errors.h"
#include "models/base/tensor_file.h"
#include "pipeline/fuzz/target.h"

namespace {

/// Reads every tensor; returns their total size in bytes.
std::uint64_t read_all(const bench::TensorFile& file) {
  std::uint64_t bytes = 0;
  for (const auto& [name, tensor] : file.tensors()) {
    const std::uint64_t count = tensor.elements();
    if (bench::is_floating(tensor.type)) {
      std::vector<float> values(count);
      file.read(tensor, 0, values);
    } else {
      std::vector<std::int64_t> values(count);
      file.read(tensor, 0, values);
    }
    bytes += tensor.end - tensor.begin;
  }
  return bytes;
}

std::string with_header(const std::string& json, const std::string& data) {
  const std::uint64_t length = json.size();
  std::string bytes(sizeof(length), '\0');
  std::memcpy(bytes.data(), &length, sizeof(length));
  return bytes + json + data;
}

}  // namespace

/// An accepted file consists of exactly its header and its tensors.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int fd = ::memfd_create("fuzz", 0);
  if (fd < 0 || ::write(fd, data, size) != static_cast<ssize_t>(size)) {
    std::abort();
  }
  try {
    const bench::TensorFile file(fmt::format("/proc/self/fd/{}", fd));
    std::uint64_t length = 0;
    std::memcpy(&length, data, sizeof(length));
    if (file.size_bytes() != size || sizeof(length) + length + read_all(file) != size) {
      std::abort();
    }
  } catch (const bench::DataError&) {
    // malformed files end here
  }
  ::close(fd);
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  return {
      with_header("{}", ""),
      with_header(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "12345678"),
      with_header(R"({"__metadata__":{"k":"v"},"w":{"dtype":"BF16","shape":[1,3],"data_offsets":)"
                  R"([8,14]},"n":{"dtype":"I64","shape":[],"data_offsets":[0,8]}}  )",
                  "12345678abcdef"),
      with_header(R"({"h":{"dtype":"F16","shape":[0],"data_offsets":[0,0]},"d":{"dtype":"F64",)"
                  R"("shape":[1],"data_offsets":[0,8]},"i":{"dtype":"I32","shape":[1],)"
                  R"("data_offsets":[8,12]}})",
                  "12345678abcd")};
}
