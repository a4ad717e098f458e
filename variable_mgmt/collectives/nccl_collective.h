#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "kernels/nccl_library.h"
#include "variable_mgmt/collectives/collective.h"

namespace bench {

struct NcclOptions {
  /// Of the members, by rank.
  std::vector<std::string> names;
  std::string library = nccl::library_path();
  /// How long a member's first start() waits for all of them to be connected, and each one for the
  /// library to take it.
  std::chrono::milliseconds connect_timeout{60000};
};

/// Members with a GPU each, which add through NCCL on a stream beside their own. Their streams have
/// to have a native_handle(). No call stays within NCCL: communicators do not block, their errors
/// are asked for while anybody waits, and whoever fails or is told of a failure aborts its own.
/// Throws UsageError when the library cannot be used.
std::unique_ptr<Collective> make_nccl_collective(NcclOptions options);

/// The one that the spec asks for: NCCL's, which waits so long, or the host's.
std::unique_ptr<Collective> make_collective(CollectiveOptions options,
                                            std::chrono::milliseconds nccl_timeout);

}  // namespace bench
