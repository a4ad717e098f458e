// Captures that cannot become a graph, and graphs that do not do what the host intended.

#include <thread>

#include "kernels/gpu_emulator/test/scenario.h"

namespace bench::cuda::emulator {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

void add_from_memory(const float* from, float* to, const float* value) {
  to[threadIdx.x] = from[threadIdx.x] + *value;
}

/// Captures what `work` enqueues on a stream. A failed capture is ended too.
class Graph {
 public:
  Graph(cudaStream_t stream, const std::function<void()>& work) {
    require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    try {
      work();
    } catch (...) {
      static_cast<void>(cudaStreamEndCapture(stream, &graph_));
      throw;
    }
    require(cudaStreamEndCapture(stream, &graph_));
    require(cudaGraphInstantiate(&exec_, graph_));
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() {
    if (exec_ != nullptr) {
      EXPECT_EQ(cudaGraphExecDestroy(exec_), cudaSuccess);
    }
    EXPECT_EQ(cudaGraphDestroy(graph_), cudaSuccess);
  }
  void replay(cudaStream_t stream) const { require(cudaGraphLaunch(exec_, stream)); }
  [[nodiscard]] cudaGraphExec_t exec() const { return exec_; }
  void destroy_exec() { require(cudaGraphExecDestroy(std::exchange(exec_, nullptr))); }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
};

class GraphTest : public ScenarioTest {
 protected:
  /// Why a capture of this work fails, or "".
  static std::string failure_of_capture(cudaStream_t stream, const std::function<void()>& work) {
    return failure_of([&] { const Graph graph(stream, work); });
  }
};

/// A step whose learning rate changes.
template <bool frozen>
Values change_rate() {
  const OnDevice<float> memory(all_of(0));
  const OnDevice<float> device_rate(1);
  const Pinned<float> rate({1});
  const Stream stream;
  const Graph step(stream, [&] {
    if (frozen) {
      launch_add(stream, memory.data(), memory.data(), rate[0]);
    } else {
      copy(stream, rate.data(), device_rate.data(), sizeof(float));
      launch(stream, {"add_from_memory", 1, kCount}, add_from_memory, memory.data(), memory.data(),
             device_rate.data());
    }
  });
  for (const float next : {1.0F, 10.0F, 100.0F}) {
    rate[0] = next;
    step.replay(stream);
    require(cudaStreamSynchronize(stream));
  }
  return memory.values_now();
}

TEST_F(GraphTest, AScalarOfTheHostIsFrozen) {
  expect_caught(all_of(111), change_rate<true>, change_rate<false>);
}

/// Steps that read their scalar from a host slot.
template <bool waits>
Values reuse_scalars_slot() {
  const OnDevice<float> memory(all_of(0));
  const OnDevice<float> device_rate(1);
  const Pinned<float> rate({0});
  const Stream stream;
  const Graph step(stream, [&] {
    copy(stream, rate.data(), device_rate.data(), sizeof(float));
    launch(stream, {"add_from_memory", 1, kCount}, add_from_memory, memory.data(), memory.data(),
           device_rate.data());
  });
  for (const float next : {1.0F, 10.0F}) {
    rate[0] = next;
    step.replay(stream);
    if (waits) {
      require(cudaStreamSynchronize(stream));
    }
  }
  require(cudaStreamSynchronize(stream));
  return memory.values_now();
}

TEST_F(GraphTest, AReplaysSlotIsReusedWhenItHasEnded) {
  expect_caught(all_of(11), reuse_scalars_slot<false>, reuse_scalars_slot<true>);
}

/// A branch of a graph that reads the other branch's result.
template <bool forks_early>
Values fork() {
  const OnDevice<float> from(all_of(1));
  const OnDevice<float> between(all_of(0));
  const OnDevice<float> to(all_of(0));
  const Stream stream;
  const Stream branch;
  const Event forked;
  const Event joined;
  const Graph graph(stream, [&] {
    // A first node, so that both branches can come after it.
    require(cudaMemsetAsync(to.data(), 0, kBytes, stream));
    if (forks_early) {
      require(cudaEventRecord(forked, stream));
    }
    launch_add(stream, from.data(), between.data(), 1);
    if (!forks_early) {
      require(cudaEventRecord(forked, stream));
    }
    require(cudaStreamWaitEvent(branch, forked));
    launch_add(branch, between.data(), to.data(), 1);
    require(cudaEventRecord(joined, branch));
    require(cudaStreamWaitEvent(stream, joined));
  });
  graph.replay(stream);
  require(cudaStreamSynchronize(stream));
  return to.values_now();
}

TEST_F(GraphTest, BranchesOfAGraphHaveNoOrder) {
  expect_caught(all_of(3), fork<true>, fork<false>);
}

template <bool replays>
Values capture_only() {
  const OnDevice<float> memory(all_of(0));
  const Stream stream;
  const Graph graph(stream, [&] { launch_add(stream, memory.data(), memory.data(), 1); });
  if (replays) {
    graph.replay(stream);
    graph.replay(stream);
  }
  require(cudaStreamSynchronize(stream));
  return memory.values_now();
}

TEST_F(GraphTest, ACaptureRunsNothing) {
  expect_caught(all_of(2), capture_only<false>, capture_only<true>);
}

/// One graph on two streams; concurrent runs would count only once.
Values replay_on_two_streams() {
  const OnDevice<float> memory(all_of(0));
  const OnDevice<float> between(all_of(0));
  const Stream stream;
  const Stream other;
  const Graph graph(stream, [&] {
    launch_add(stream, memory.data(), between.data(), 1);
    launch_add(stream, between.data(), memory.data(), 0);
  });
  graph.replay(stream);
  graph.replay(other);
  require(cudaDeviceSynchronize());
  return memory.values_now();
}

/// The same kernels without a graph.
Values launch_on_two_streams() {
  const OnDevice<float> memory(all_of(0));
  const OnDevice<float> between(all_of(0));
  const Stream streams[2];
  for (const Stream& stream : streams) {
    launch_add(stream, memory.data(), between.data(), 1);
    launch_add(stream, between.data(), memory.data(), 0);
  }
  require(cudaDeviceSynchronize());
  return memory.values_now();
}

TEST_F(GraphTest, AGraphDoesNotOverlapItself) {
  expect_caught(all_of(2), launch_on_two_streams, replay_on_two_streams);
}

TEST_F(GraphTest, NothingWaitsOrAllocatesInACapture) {
  const OnDevice<float> memory(all_of(0));
  const Pinned<float> pinned(all_of(0));
  const Stream stream;
  const Event outside;
  require(cudaEventRecord(outside, nullptr));
  Values host = all_of(0);
  void* allocated = nullptr;
  struct Row {
    const char* words;
    std::function<cudaError_t()> call;
  };
  const Row rows[] = {
      {"cudaMalloc is not allowed inside a capture", [&] { return cudaMalloc(&allocated, 4); }},
      {"cudaHostAlloc is not allowed inside a capture",
       [&] { return cudaMallocHost(&allocated, 4); }},
      {"cudaFree is not allowed inside a capture", [&] { return cudaFree(memory.data()); }},
      {"cudaFreeHost is not allowed inside a capture", [&] { return cudaFreeHost(pinned.data()); }},
      {"cudaDeviceSynchronize is not allowed while a stream is capturing",
       [] { return cudaDeviceSynchronize(); }},
      {"cudaStreamSynchronize of a stream that is capturing",
       [&] { return cudaStreamSynchronize(stream); }},
      {"cudaStreamQuery of a stream that is capturing", [&] { return cudaStreamQuery(stream); }},
      {"cudaStreamSynchronize is not allowed inside a capture",
       [] { return cudaStreamSynchronize(nullptr); }},
      {"cudaEventSynchronize is not allowed inside a capture",
       [&] { return cudaEventSynchronize(outside); }},
      {"cudaEventQuery is not allowed inside a capture", [&] { return cudaEventQuery(outside); }},
      {"cudaMemcpy is not allowed inside a capture",
       [&] { return cudaMemcpy(memory.data(), pinned.data(), kBytes, cudaMemcpyDefault); }},
      {"cudaMemset is not allowed inside a capture",
       [&] { return cudaMemset(memory.data(), 0, kBytes); }},
      {"a copy inside a capture accesses host memory that is not pinned",
       [&] {
         return cudaMemcpyAsync(memory.data(), host.data(), kBytes, cudaMemcpyDefault, stream);
       }},
      {"a copy inside a capture accesses host memory that is not pinned",
       [&] {
         return cudaMemcpyAsync(host.data(), memory.data(), kBytes, cudaMemcpyDefault, stream);
       }},
  };
  const auto work = [&] { launch_add(stream, memory.data(), memory.data(), 1); };
  for (const auto& [words, call] : rows) {
    SCOPED_TRACE(words);
    EXPECT_THAT(failure_of_capture(stream,
                                   [&] {
                                     work();
                                     require(call());
                                   }),
                HasSubstr(words));
    EXPECT_THAT(failure_of_capture(stream,
                                   [&] {
                                     work();
                                     static_cast<void>(call());
                                   }),
                HasSubstr("operation failed due to a previous error during capture"))
        << "where its status is not asked for";
    EXPECT_THAT(failure_of_capture(stream, work), IsEmpty()) << "without the call";
  }
  EXPECT_EQ(allocated, nullptr);
}

TEST_F(GraphTest, NoThreadWaitsForTheDeviceDuringACapture) {
  const OnDevice<float> memory(all_of(0));
  const Stream stream;
  EXPECT_THAT(failure_of_capture(stream,
                                 [&] {
                                   launch_add(stream, memory.data(), memory.data(), 1);
                                   std::thread([] {
                                     EXPECT_EQ(cudaDeviceSynchronize(),
                                               cudaErrorStreamCaptureUnsupported);
                                   }).join();
                                 }),
              HasSubstr("operation failed due to a previous error during capture"));
}

TEST_F(GraphTest, ForksAreJoined) {
  const OnDevice<float> memory(all_of(0));
  const OnDevice<float> other(all_of(0));
  const Stream stream;
  const Stream branch;
  const Event forked;
  const Event joined;
  const auto capture = [&](bool joins) {
    return failure_of_capture(stream, [&] {
      launch_add(stream, memory.data(), memory.data(), 1);
      require(cudaEventRecord(forked, stream));
      require(cudaStreamWaitEvent(branch, forked));
      launch_add(branch, memory.data(), other.data(), 1);
      if (joins) {
        require(cudaEventRecord(joined, branch));
        require(cudaStreamWaitEvent(stream, joined));
      }
    });
  };
  EXPECT_THAT(capture(false), HasSubstr("capturing stream has unjoined work: the stream did not "
                                        "wait for an event after all work of another stream"));
  EXPECT_THAT(capture(true), IsEmpty());
}

TEST_F(GraphTest, ACaptureWaitsForNothingOutside) {
  const OnDevice<float> memory(all_of(0));
  const Stream stream;
  const Stream other;
  const Event event;
  const auto capture = [&](bool from_outside) {
    return failure_of_capture(stream, [&] {
      launch_add(stream, memory.data(), memory.data(), 1);
      require(cudaEventRecord(event, from_outside ? other : stream));
      require(cudaStreamWaitEvent(stream, event));
    });
  };
  EXPECT_THAT(capture(true), HasSubstr("the event was recorded outside the capture"));
  EXPECT_THAT(capture(false), IsEmpty());
}

TEST_F(GraphTest, NothingOutsideWaitsForACapture) {
  const OnDevice<float> memory(all_of(0));
  const Stream stream;
  const Event event;
  const auto wait = [&](bool records_again) {
    const Graph graph(stream, [&] {
      launch_add(stream, memory.data(), memory.data(), 1);
      require(cudaEventRecord(event, stream));
    });
    return failure_of([&] {
      graph.replay(stream);
      if (records_again) {
        require(cudaEventRecord(event, stream));
      }
      require(cudaStreamWaitEvent(nullptr, event));
      require(cudaEventSynchronize(event));
    });
  };
  EXPECT_THAT(wait(false), HasSubstr("the event was recorded in a capture that has ended"));
  EXPECT_THAT(wait(true), IsEmpty());
}

TEST_F(GraphTest, TwoCapturesDoNotMerge) {
  const OnDevice<float> memory(all_of(0));
  const Stream stream;
  const Stream other;
  const Event event;
  const auto capture = [&](bool merges) {
    return failure_of_capture(stream, [&] {
      const Graph inner(other, [&] {
        launch_add(other, memory.data(), memory.data(), 1);
        require(cudaEventRecord(event, other));
        if (merges) {
          require(cudaStreamWaitEvent(stream, event));
        }
      });
    });
  };
  EXPECT_THAT(capture(true), HasSubstr("the event belongs to another capture"));
  EXPECT_THAT(capture(false), IsEmpty());
}

TEST_F(GraphTest, TheNullStreamIsLeftAloneWhileABlockingStreamCaptures) {
  const OnDevice<float> memory(all_of(0));
  const auto capture = [&](unsigned flags) {
    cudaStream_t stream = nullptr;
    require(cudaStreamCreateWithFlags(&stream, flags));
    std::string failure =
        failure_of_capture(stream, [&] { launch_add(nullptr, memory.data(), memory.data(), 1); });
    require(cudaStreamDestroy(stream));
    return failure;
  };
  EXPECT_THAT(capture(cudaStreamDefault),
              HasSubstr("the null stream would wait for a blocking stream that is capturing"));
  EXPECT_THAT(capture(cudaStreamNonBlocking), IsEmpty());
  EXPECT_THAT(failure_of_capture(nullptr, [] {}), HasSubstr("the null stream cannot capture"));
}

TEST_F(GraphTest, ACaptureEndsWhereItBegan) {
  const Stream stream;
  const Stream other;
  cudaGraph_t graph = nullptr;
  require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  EXPECT_THAT(refusal_of(cudaStreamEndCapture(other, &graph)),
              HasSubstr("the stream is not capturing"));
  EXPECT_THAT(refusal_of(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal)),
              HasSubstr("the stream is already capturing"));
  cudaError_t of_other_thread = cudaSuccess;
  std::thread([&] { of_other_thread = asked(cudaStreamEndCapture(stream, &graph)); }).join();
  EXPECT_EQ(of_other_thread, cudaErrorStreamCaptureWrongThread);
  EXPECT_THAT(refusal_of(cudaStreamEndCapture(stream, &graph)), IsEmpty());
  require(cudaGraphDestroy(graph));
}

TEST_F(GraphTest, MemoryOutlivesTheGraphsThatUseIt) {
  OnDevice<float> memory(all_of(0));
  const OnDevice<float> other(all_of(0));
  Pinned<float> pinned(all_of(0));
  const Stream stream;
  const Graph launches(stream, [&] { launch_add(stream, memory.data(), other.data(), 1); });
  const Graph copies(stream, [&] { copy(stream, pinned.data(), other.data()); });
  const auto replay = [&](const Graph& graph) { return failure_of([&] { graph.replay(stream); }); };
  EXPECT_THAT(replay(launches), IsEmpty());
  EXPECT_THAT(replay(copies), IsEmpty());
  memory.free();
  pinned.free();
  EXPECT_THAT(
      replay(launches),
      HasSubstr(
          "kernel add: argument 1 is an address of memory that was freed or never allocated"));
  EXPECT_THAT(replay(copies),
              testing::AllOf(HasSubstr("cudaMemcpyAsync: "),
                             HasSubstr("the copy's memory was freed before the copy ran")));
}

TEST_F(GraphTest, ADestroyedGraphIsRefused) {
  const OnDevice<float> memory(all_of(0));
  const Stream stream;
  Graph graph(stream, [&] { launch_add(stream, memory.data(), memory.data(), 1); });
  cudaGraphExec_t exec = graph.exec();
  EXPECT_THAT(refusal_of(cudaGraphLaunch(exec, stream)), IsEmpty());
  graph.destroy_exec();
  EXPECT_THAT(refusal_of(cudaGraphLaunch(exec, stream)), HasSubstr("invalid argument"));
  EXPECT_EQ(memory.values(), all_of(1)) << "what was replayed before ends";
}

}  // namespace
}  // namespace bench::cuda::emulator
