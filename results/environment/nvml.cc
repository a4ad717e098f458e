#include "results/environment/nvml.h"

#include <dlfcn.h>

#include "models/base/errors.h"

namespace bench::nvml {

Library::Library(const std::string& path) : path_(path) {
  library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) {
    why_not_ = fmt::format("NVML cannot be opened: {}", dlerror());
    return;
  }
  if (const auto why = call("nvmlInit_v2")) {
    why_not_ = why->why;
    dlclose(library_);
    library_ = nullptr;
  }
}

Library::~Library() {
  if (library_ != nullptr) {
    static_cast<void>(call("nvmlShutdown"));
    dlclose(library_);
  }
}

void* Library::address(const char* function) const {
  return library_ == nullptr ? nullptr : dlsym(library_, function);
}

Unknown Library::missing(const char* function) const {
  return {why_not_.empty() ? fmt::format("{} has no {}", path_, function) : why_not_};
}

Unknown Library::failed(const char* function, int status) const {
  using Explain = const char*(int);
  auto* const explain = reinterpret_cast<Explain*>(address("nvmlErrorString"));  // NOLINT(*-cast)
  return {explain == nullptr ? fmt::format("{} returned status {}", function, status)
                             : fmt::format("{}: {}", function, explain(status))};
}

}  // namespace bench::nvml
