#include "variable_mgmt/world/mpi_transport.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "models/base/errors.h"
#include "variable_mgmt/world/mpi_api.h"

namespace bench {
namespace {

const MpiApi& load(const Launch& launch, const std::string& folder) {
  const std::string path = fmt::format("{}/libbench_{}.so", folder, launch.library);
  if (launch.library == "mpich") {
    // UCX aborts a rank that copies from the memory of a killed one, before it can report the loss.
    // Without such copies, an all-reduce of ResNet-50's gradients between two ranks takes 1.46
    // times as long, but 1.08 times with this scheme.
    setenv("UCX_TLS", "^cma", /*overwrite=*/0);
    setenv("UCX_RNDV_SCHEME", "get_zcopy", /*overwrite=*/0);
  }
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw UsageError(fmt::format("{} started this process, but bench cannot open its MPI: {}",
                                 launch.launcher, dlerror()));
  }
  void* const entry = dlsym(library, kMpiEntry);
  check(entry != nullptr, fmt::format("{} has no {}", path, kMpiEntry));
  const MpiApi* const api = reinterpret_cast<MpiEntry>(entry)();  // NOLINT(*-cast)
  if (api->version != MpiApi::kVersion) {
    throw UsageError(fmt::format("{} is from another version of bench: build it again", path));
  }
  return *api;
}

class MpiTransport final : public Transport {
 public:
  MpiTransport(const Launch& launch, const std::string& folder) : api_(load(launch, folder)) {
    checked("MPI_Init_thread", api_.init());
    if (launch.size && *launch.size != size()) {
      throw UsageError(fmt::format(
          "{} started {} processes, but {} finds {}: start bench with the launcher of the MPI that "
          "the plug-in libbench_{}.so uses",
          launch.launcher, *launch.size, library(), size(), launch.library));
    }
  }

  [[nodiscard]] int rank() const override { return api_.rank(); }
  [[nodiscard]] int size() const override { return api_.size(); }
  [[nodiscard]] std::string library() const override {
    const std::string_view text = api_.library();
    std::string line(text.substr(0, text.find_first_of(",\n")));
    // MPICH's has a label and a tab: "MPICH Version:\t4.0.2".
    if (const std::size_t label = line.find(" Version:"); label != std::string::npos) {
      const std::size_t number = line.find_first_of("0123456789", label);
      line = line.substr(0, label) + " " + line.substr(std::min(number, line.size()));
    }
    return line;
  }

  Request send(int peer, int tag, std::span<const std::byte> bytes) override {
    return checked("MPI_Isend", api_.send(peer, tag, bytes.data(), bytes.size()));
  }
  Request receive(int peer, int tag, std::span<std::byte> bytes) override {
    return checked("MPI_Irecv", api_.receive(peer, tag, bytes.data(), bytes.size()));
  }
  Request all_reduce(DType dtype, std::span<std::byte> elements) override {
    check(dtype == DType::f32 || dtype == DType::f64, "MPI adds only f32 and f64");
    return checked("MPI_Iallreduce",
                   api_.all_reduce(elements.data(), elements.size(), size_of(dtype)));
  }
  bool test(Request request) override {
    return checked("MPI_Test", api_.test(static_cast<std::int64_t>(request))) == 1;
  }
  void finish() override { checked("MPI_Finalize", api_.finish()); }

 private:
  Request checked(const char* call, std::int64_t result) const {
    if (result < 0) {
      throw DeviceError(fmt::format("{}: {}", call, api_.explain(result)));
    }
    return static_cast<Request>(result);
  }

  const MpiApi& api_;
};

}  // namespace

std::unique_ptr<Transport> open_mpi(const Launch& launch, const std::string& folder) {
  return std::make_unique<MpiTransport>(launch, folder);
}

}  // namespace bench
