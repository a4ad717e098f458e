#include "variable_mgmt/collectives/host_member.h"

namespace bench {
namespace {

class HostCollective final : public Collective {
 public:
  explicit HostCollective(CollectiveOptions options)
      : communicator_(std::move(options)),
        joined_(static_cast<std::size_t>(communicator_.local_members())) {}

  [[nodiscard]] int members() const override { return communicator_.local_members(); }
  std::unique_ptr<CollectiveMember> join(int rank, Backend& backend, Stream& stream) override {
    check(rank >= 0 && rank < members(),
          fmt::format("collective: rank {} is outside the {} members", rank, members()));
    check(!joined_[static_cast<std::size_t>(rank)].exchange(true),
          fmt::format("collective: {} joined twice", communicator_.name(rank)));
    return std::make_unique<HostMember>(communicator_, rank, backend, stream);
  }
  void cancel(int rank, const std::string& reason) noexcept override {
    communicator_.cancel(rank, reason);
  }
  [[nodiscard]] std::string failure() const override { return communicator_.failure(); }

 private:
  HostCommunicator communicator_;
  std::vector<std::atomic<bool>> joined_;
};

}  // namespace

std::unique_ptr<Collective> make_host_collective(CollectiveOptions options) {
  if (options.spec.empty() && options.remote == nullptr) {
    options.spec = {{.algorithm = "shm"}};
  }
  return std::make_unique<HostCollective>(std::move(options));
}

}  // namespace bench
