#include "kernels/nccl_library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "models/base/errors.h"

namespace bench::nccl {

std::string library_path() {
  const char* const named = std::getenv("BENCH_NCCL_LIBRARY");
  return named == nullptr ? kLibrary : named;
}

Library::Library(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw UsageError(fmt::format("cannot open NCCL: {}", dlerror()));
  }
  const auto find = [&](const char* name, auto& function) {
    void* const address = dlsym(library, name);
    if (address == nullptr) {
      throw UsageError(fmt::format("cannot use NCCL: {} has no {}", path, name));
    }
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);  // NOLINT(*-cast)
  };
  find("ncclGetVersion", get_version);
  find("ncclGetUniqueId", get_unique_id);
  find("ncclCommInitRankConfig", init_rank);
  find("ncclCommGetAsyncError", get_async_error);
  find("ncclAllReduce", all_reduce);
  find("ncclCommAbort", abort);
  find("ncclGetErrorString", get_error_string);
}

std::string Library::explain(const char* call, int result) const {
  return fmt::format("{}: {} (NCCL status {})", call, get_error_string(result), result);
}

std::string Library::version() const {
  constexpr int kMajor = 10000;
  constexpr int kMinor = 100;
  int number = 0;
  if (get_version(&number) != kSuccess) {
    return "unknown";
  }
  return fmt::format("{}.{}.{}", number / kMajor, number % kMajor / kMinor, number % kMinor);
}

}  // namespace bench::nccl
