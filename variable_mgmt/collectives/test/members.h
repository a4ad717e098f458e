#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "kernels/reference/reference_backend.h"
#include "variable_mgmt/collectives/collective.h"

namespace bench {

inline std::vector<std::string> tower_names(int members) {
  std::vector<std::string> names;
  for (int rank = 0; rank < members; ++rank) {
    names.push_back(fmt::format("tower {}", rank));
  }
  return names;
}

/// A member with its rank, backend and stream.
struct TestMember {
  int rank;
  Backend& backend;
  Stream& stream;
  CollectiveMember& member;
};

using MakeBackend = std::function<std::unique_ptr<Backend>(int rank)>;

/// Runs `body` for every member, each on a separate thread; returns what each threw, or "".
inline std::vector<std::string> run_members(
    Collective& collective, const std::function<void(TestMember)>& body,
    const MakeBackend& make = [](int) { return make_reference_backend(); }) {
  std::vector<std::string> errors(static_cast<std::size_t>(collective.members()));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < collective.members(); ++rank) {
    threads.emplace_back([&, rank] {
      try {
        const auto backend = make(rank);
        const auto stream = backend->make_stream();
        const auto member = collective.join(rank, *backend, *stream);
        body({.rank = rank, .backend = *backend, .stream = *stream, .member = *member});
        stream->synchronize();
      } catch (const std::exception& error) {
        errors[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  }
  threads.clear();
  return errors;
}

/// Longer than any test, so that only a fault reaches it.
inline Patience test_patience() {
  return {.deadline = std::chrono::steady_clock::now() + std::chrono::hours(1)};
}

}  // namespace bench
