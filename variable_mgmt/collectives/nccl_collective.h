#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "kernels/nccl_library.h"
#include "variable_mgmt/collectives/collective.h"

namespace bench {

struct NcclOptions {
  /// The members' names by rank.
  std::vector<std::string> names;
  std::string library = nccl::library_path();
  /// How long a member's first start() waits for all members to be connected, and each start() for
  /// the library to accept it.
  std::chrono::milliseconds connect_timeout{60000};
};

/// Makes members with one GPU each, which add through NCCL on a stream concurrent to their own.
/// Their streams must have a native_handle(). No call blocks within NCCL: communicators are
/// non-blocking, and waiting members poll their errors. A member that fails, or learns of a
/// failure, aborts its communicator. Throws UsageError if the library cannot be used.
std::unique_ptr<Collective> make_nccl_collective(NcclOptions options);

/// Makes the collective for the spec: NCCL's, which waits at most `nccl_timeout`, or the host's.
std::unique_ptr<Collective> make_collective(CollectiveOptions options,
                                            std::chrono::milliseconds nccl_timeout);

}  // namespace bench
