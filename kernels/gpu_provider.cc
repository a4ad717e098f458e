#include "kernels/gpu_provider.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "kernels/core_build.h"
#include "kernels/gpu_libraries.h"
#include "models/base/errors.h"

namespace bench {
namespace {

constexpr const char* kLibrary = "libbench_cuda.so";
constexpr const char* kDriver = "libcuda.so.1";

/// Null if the variable is not set.
const char* named_library() { return std::getenv("BENCH_GPU_LIBRARY"); }

/// Returns the loader's message for an existing library. If cuDNN is missing, it names the required
/// library and the searched places.
std::string why_not_opened(const std::filesystem::path& library, const std::string& error) {
  const std::string start = fmt::format("cannot open the GPU library: {}", error);
  if (!error.starts_with("libcudnn")) {
    return start;
  }
  const char* const given = std::getenv("LD_LIBRARY_PATH");
  const std::string found_at_build(kCudaLibraryFolders);
  const std::string folders = found_at_build.empty()
                                  ? library.parent_path().string()
                                  : library.parent_path().string() + ", " + found_at_build;
  return fmt::format(
      "{}. {} is required; the loader searched LD_LIBRARY_PATH ({}), {} and the folders of "
      "ldconfig -p",
      start, kCudnnWanted, given == nullptr ? "unset" : given, folders);
}

bool has_driver() {
  // It stays open: the CUDA runtime opens it, too.
  return dlopen(kDriver, RTLD_LAZY | RTLD_LOCAL) != nullptr;
}

}  // namespace

std::filesystem::path plugin_folder() {
  Dl_info info{};
  check(dladdr(reinterpret_cast<const void*>(&open_gpu_provider), &info) != 0,
        "the core library has no path");
  return std::filesystem::path(info.dli_fname).parent_path();
}

GpuProvider& open_gpu_provider() {
  const char* const named = named_library();
  const std::filesystem::path path = named != nullptr ? named : plugin_folder() / kLibrary;
  if (!std::filesystem::exists(path)) {
    throw UsageError(
        named != nullptr
            ? fmt::format("BENCH_GPU_LIBRARY={}: the file does not exist", named)
            : fmt::format("this build has no GPU support: {} is not next to the program's other "
                          "libraries. Build it with nvcc of CUDA 13, cuDNN 9 and cuBLAS 13 "
                          "installed, or run BENCH_CUDA=wheels tools/bench",
                          kLibrary));
  }
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw UsageError(why_not_opened(path, dlerror()));
  }
  auto* const entry =
      reinterpret_cast<GpuProviderEntry*>(dlsym(library, kGpuProviderEntry));  // NOLINT(*-cast)
  GpuProvider* const provider = entry == nullptr ? nullptr : entry(kCoreBuild);
  if (provider == nullptr) {
    throw UsageError(fmt::format(
        "the GPU library {} and this program come from different builds; use both from one build",
        path.string()));
  }
  return *provider;
}

std::string FoundGpus::how_many() const {
  std::string text = gpus.size() == 1 ? "this host has 1 usable GPU"
                                      : fmt::format("this host has {} usable GPUs", gpus.size());
  for (const std::string& one : left_out) {
    text += fmt::format("; {}", one);
  }
  return text;
}

void FoundGpus::check_any(std::string_view flag) const {
  if (provider == nullptr) {
    throw UsageError(fmt::format("{}: this host has no usable GPU: {}", flag, why_none));
  }
}

FoundGpus find_gpus() {
  FoundGpus found;
  if (named_library() == nullptr && !has_driver()) {
    found.why_none = "the NVIDIA driver is not installed";
    return found;
  }
  try {
    found.provider = &open_gpu_provider();
    PresentGpus present = found.provider->gpus();
    found.gpus = std::move(present.usable);
    found.left_out = std::move(present.left_out);
  } catch (const UsageError& error) {
    found.provider = nullptr;
    found.why_none = error.what();
  }
  return found;
}

}  // namespace bench
