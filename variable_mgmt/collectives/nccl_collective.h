#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/nccl_library.h"
#include "variable_mgmt/collectives/collective.h"

namespace bench {

/// The members of all processes of a run.
struct NcclGroup {
  int members = 0;
  /// The place of this process's first member in it.
  int first = 0;
  /// The result of rank 0's new_nccl_id().
  std::string id = {};
  /// Why another process ended the run; empty while it has not. The members poll it.
  std::function<std::string()> failure = {};
};

/// Identifies a group: hexadecimal digits. Throws UsageError if the library cannot be used.
std::string new_nccl_id(const std::string& library = nccl::library_path());

struct NcclOptions {
  /// The names of this process's members by rank.
  std::vector<std::string> names;
  /// Unset: the run has one process.
  std::optional<NcclGroup> group = {};
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

/// Makes the collective of one process for the spec: NCCL's, which waits at most `nccl_timeout`, or
/// the host's.
std::unique_ptr<Collective> make_collective(CollectiveOptions options,
                                            std::chrono::milliseconds nccl_timeout);

}  // namespace bench
