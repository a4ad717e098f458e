#include "variable_mgmt/collectives/nccl_collective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <thread>

#include "variable_mgmt/collectives/test/late_device.h"
#include "variable_mgmt/collectives/test/members.h"
#include "variable_mgmt/collectives/trial.h"

namespace bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::size_t kElements = 1000;
/// Longer than any operation on a busy machine.
constexpr milliseconds kLong = std::chrono::hours(1);

/// The fake NCCL with these faults.
std::unique_ptr<Collective> make_faulty(int members, const char* faults,
                                        milliseconds connect_timeout = kLong) {
  setenv("FAKE_NCCL", faults, 1);
  return make_nccl_collective({.names = tower_names(members),
                               .library = FAKE_NCCL_LIBRARY,
                               .connect_timeout = connect_timeout});
}

std::vector<std::string> run_late(Collective& collective,
                                  const std::function<void(TestMember)>& body) {
  return run_members(collective, body, [](int) { return make_late_backend(); });
}

TEST(NcclCollective, AddsOnTheMembersStreams) {
  for (const int members : {1, 2, 3, 4, 8}) {
    const auto collective = make_faulty(members, "");
    std::vector<std::vector<float>> results(static_cast<std::size_t>(members));
    const auto errors = run_late(*collective, [&](const TestMember& self) {
      std::vector<float>& values = results[static_cast<std::size_t>(self.rank)];
      values.assign(kElements, static_cast<float>(self.rank + 1));
      const std::size_t bytes = kElements * sizeof(float);
      const auto memory = self.backend.allocate(bytes);
      self.stream.upload(std::as_bytes(std::span(values)), memory->data());
      // Three sums in a row, each of one part.
      std::vector<CollectiveMember::Handle> handles;
      for (const std::size_t part : {0U, 1U, 2U}) {
        handles.push_back(self.member.start(
            {.data = memory->data() + part * bytes / 4, .elements = kElements / 4, .index = part}));
      }
      for (const auto handle : handles) {
        self.member.wait(handle, test_patience());
      }
      self.stream.download(memory->data(), std::as_writable_bytes(std::span(values)));
      self.stream.synchronize();
    });
    for (const std::string& error : errors) {
      EXPECT_EQ(error, "");
    }
    const auto sum = static_cast<float>(members * (members + 1)) / 2;
    for (std::size_t rank = 0; rank < results.size(); ++rank) {
      EXPECT_EQ(results[rank].front(), sum);
      EXPECT_EQ(results[rank][kElements / 4 * 3 - 1], sum);
      EXPECT_EQ(results[rank].back(), static_cast<float>(rank + 1));
    }
  }
}

/// The errors of three towers that add repeatedly. A fault ends them; without a fault they wait for
/// `patience`.
std::vector<std::string> errors_of(const char* faults, milliseconds patience = kLong,
                                   milliseconds connect_timeout = kLong) {
  const auto collective = make_faulty(3, faults, connect_timeout);
  auto errors = run_late(*collective, [&](const TestMember& self) {
    const auto memory = self.backend.allocate(kElements * sizeof(float));
    for (int i = 0; i < 10; ++i) {
      const auto handle = self.member.start({.data = memory->data(), .elements = kElements});
      self.member.wait(handle, {.deadline = steady_clock::now() + patience});
    }
  });
  for (const std::string& error : errors) {
    EXPECT_NE(error, "") << faults;
  }
  errors.push_back(collective->failure());
  return errors;
}

/// The collectives of processes with these numbers of members.
std::vector<std::unique_ptr<Collective>> make_processes(const std::vector<int>& members,
                                                        std::function<std::string()> failure,
                                                        const char* faults = "") {
  setenv("FAKE_NCCL", faults, 1);
  NcclGroup group{.id = new_nccl_id(FAKE_NCCL_LIBRARY), .failure = std::move(failure)};
  group.members = std::accumulate(members.begin(), members.end(), 0);
  std::vector<std::unique_ptr<Collective>> collectives;
  for (const int own : members) {
    collectives.push_back(make_nccl_collective({.names = tower_names(own),
                                                .group = group,
                                                .library = FAKE_NCCL_LIBRARY,
                                                .connect_timeout = kLong}));
    group.first += own;
  }
  return collectives;
}

TEST(NcclCollective, AddsOverSeveralProcesses) {
  const auto processes = make_processes({2, 1}, [] { return ""; });
  std::atomic<int> seen = 0;
  std::vector<std::jthread> threads;
  for (const auto& collective : processes) {
    threads.emplace_back([&] {
      const auto errors = run_late(*collective, [&](const TestMember& self) {
        std::vector<float> values(kElements, 1);
        const auto memory = self.backend.allocate(kElements * sizeof(float));
        self.stream.upload(std::as_bytes(std::span(values)), memory->data());
        const auto handle = self.member.start({.data = memory->data(), .elements = kElements});
        self.member.wait(handle, test_patience());
        self.stream.download(memory->data(), std::as_writable_bytes(std::span(values)));
        self.stream.synchronize();
        EXPECT_THAT(values, ::testing::Each(3));
        ++seen;
      });
      EXPECT_THAT(errors, ::testing::Each(""));
    });
  }
  threads.clear();
  EXPECT_EQ(seen, 3);
}

/// The errors of two processes whose first sum never ends, when the world fails once all towers
/// wait for it: in wait(), or in wait_for_stream().
std::vector<std::string> errors_of_lost_rank(bool by_stream) {
  std::atomic<int> waiting = 0;
  const auto failure = [&] { return waiting == 3 ? "rank 1 (host b) is lost" : ""; };
  const auto processes = make_processes({2, 1}, failure, "never:0");
  std::vector<std::string> all;
  std::mutex mutex;
  std::vector<std::jthread> threads;
  for (const auto& collective : processes) {
    threads.emplace_back([&] {
      const auto errors = run_late(*collective, [&](const TestMember& self) {
        const auto memory = self.backend.allocate(kElements * sizeof(float));
        const auto handle = self.member.start({.data = memory->data(), .elements = kElements});
        if (by_stream) {
          self.member.join();
        }
        ++waiting;
        by_stream ? self.member.wait_for_stream(test_patience())
                  : self.member.wait(handle, test_patience());
      });
      const std::lock_guard lock(mutex);
      all.insert(all.end(), errors.begin(), errors.end());
    });
  }
  threads.clear();
  return all;
}

TEST(NcclCollective, TheFailureOfAnotherProcessEndsAWait) {
  for (const bool by_stream : {false, true}) {
    EXPECT_THAT(errors_of_lost_rank(by_stream),
                ElementsAre("rank 1 (host b) is lost", "rank 1 (host b) is lost",
                            "rank 1 (host b) is lost"))
        << by_stream;
  }
}

TEST(NcclCollective, AnOperationThatHangsEndsAtItsDeadline) {
  for (const char* const faults : {"never:0", "never:4", "never:4,abort_hangs"}) {
    EXPECT_THAT(errors_of(faults, milliseconds(300)).back(),
                AnyOf(HasSubstr("by NCCL missed its deadline, although every tower has arrived"),
                      HasSubstr("has not arrived")))
        << faults;
  }
}

TEST(NcclCollective, AnErrorNamesItsTowerAndNcclsReason) {
  for (const char* const faults : {"error:0", "error:3"}) {
    const auto errors = errors_of(faults);
    EXPECT_EQ(errors.back(),
              "tower 1: an asynchronous NCCL operation: unhandled cuda error (NCCL status 1)");
    EXPECT_EQ(errors[0], errors.back());
    EXPECT_EQ(errors[2], errors.back());
  }
}

TEST(NcclCollective, TheOthersReportALostPeer) {
  for (const char* const faults : {"lost:0", "lost:3"}) {
    const auto errors = errors_of(faults);
    EXPECT_THAT(errors.back(), HasSubstr("an asynchronous NCCL operation: remote process exited"));
    EXPECT_THAT(errors.back(), AnyOf(HasSubstr("tower 0: "), HasSubstr("tower 2: ")));
    EXPECT_EQ(errors[1], errors.back());
  }
}

TEST(NcclCollective, FailedConnectionsAreReported) {
  EXPECT_THAT(errors_of("init_never", kLong, milliseconds(500)).back(),
              HasSubstr("NCCL is not connected after 500 ms"));
  EXPECT_THAT(errors_of("init_error").back(), HasSubstr("ncclCommInitRankConfig: internal error"));
}

TEST(NcclCollective, ATowerThatHangsIsNamed) {
  const auto collective = make_faulty(3, "");
  const auto errors = run_late(*collective, [&](const TestMember& self) {
    const auto memory = self.backend.allocate(kElements * sizeof(float));
    const BufferView view{.data = memory->data(), .elements = kElements};
    self.member.wait(self.member.start(view), test_patience());
    if (self.rank == 1) {
      while (collective->failure().empty()) {
        std::this_thread::yield();
      }
    } else {
      self.member.wait(self.member.start(view),
                       {.deadline = steady_clock::now() + milliseconds(200)});
    }
  });
  EXPECT_THAT(collective->failure(),
              HasSubstr("all-reduce 1 of 1000 f32 elements by NCCL missed its deadline: "));
  EXPECT_THAT(collective->failure(), HasSubstr("tower 1 has not arrived"));
}

TEST(NcclCollective, SaysWhyItCannotBeUsed) {
  try {
    make_nccl_collective({.names = tower_names(2), .library = "libnowhere.so.2"});
    FAIL() << "nothing was thrown";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot open NCCL: libnowhere.so.2"));
  }
  const auto collective = make_faulty(1, "");
  const auto errors = run_members(*collective, [](const TestMember&) {});
  EXPECT_THAT(errors[0], HasSubstr("is not an NVIDIA GPU"));
}

/// The errors of three towers in a trial of NCCL and one of the host's algorithms.
std::vector<std::string> errors_of_trial(AllReduceTrial& trial) {
  std::vector<std::string> errors(3);
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < 3; ++rank) {
      threads.emplace_back([&, rank] {
        const auto backend = make_late_backend();
        const auto stream = backend->make_stream();
        try {
          trial.run(rank, *backend, *stream, test_patience());
        } catch (const std::exception& error) {
          errors[static_cast<std::size_t>(rank)] = error.what();
        }
      });
    }
  }
  return errors;
}

TrialPlan trial_by_nccl() {
  return {.names = tower_names(3),
          .specs = {parse_all_reduce_spec("shm"), parse_all_reduce_spec("nccl")},
          .elements = {1000, 10},
          .repetitions = 2};
}

TEST(NcclCollective, IsTimedTogetherWithTheHostsAlgorithms) {
  setenv("BENCH_NCCL_LIBRARY", FAKE_NCCL_LIBRARY, 1);
  setenv("FAKE_NCCL", "", 1);
  AllReduceTrial trial(trial_by_nccl());
  EXPECT_THAT(errors_of_trial(trial), ::testing::Each(""));
  const auto timings = trial.timings();
  ASSERT_EQ(timings.size(), 2U);
  EXPECT_EQ(text_of(timings[1].spec), "nccl");
  EXPECT_EQ(timings[1].seconds.size(), 2U);
  EXPECT_GT(timings[1].median(), 0);
}

TEST(NcclCollective, EndsATrialWhoseSumsNeverCome) {
  setenv("BENCH_NCCL_LIBRARY", FAKE_NCCL_LIBRARY, 1);
  setenv("FAKE_NCCL", "never:2", 1);
  TrialPlan plan = trial_by_nccl();
  plan.nccl_timeout = milliseconds(1000);
  AllReduceTrial trial(std::move(plan));
  EXPECT_THAT(errors_of_trial(trial), ::testing::Contains(HasSubstr("missed its deadline")));
}

}  // namespace
}  // namespace bench
