// Several devices, their access to each other, and priorities of their streams.

#include <thread>
#include <utility>

#include "kernels/gpu_emulator/test/scenario.h"

namespace bench::cuda::emulator {
namespace {

class DevicesTest : public ScenarioTest {};

/// Copies from another device's memory, by a stream of this thread's device.
cudaError_t copy_from(const float* other) {
  const Stream stream;
  const OnDevice<float> here(all_of(0));
  const cudaError_t status =
      asked(cudaMemcpyAsync(here.data(), other, kBytes, cudaMemcpyDeviceToDevice, stream));
  require(cudaStreamSynchronize(stream));
  if (status == cudaSuccess) {
    EXPECT_EQ(here.values_now(), all_of(3));
  }
  return status;
}

TEST_F(DevicesTest, DevicesCopyAPeersMemoryOnceTheyMay) {
  set_devices(2);
  require(cudaSetDevice(1));
  const OnDevice<float> other(all_of(3));
  EXPECT_EQ(copy_from(other.data()), cudaSuccess);
  require(cudaSetDevice(0));
  cudaPointerAttributes attributes{};
  require(cudaPointerGetAttributes(&attributes, other.data() + 1));
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 1);
  int can = 0;
  set_peer_access(false);
  require(cudaDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 0);
  EXPECT_EQ(asked(cudaDeviceEnablePeerAccess(1, 0)), cudaErrorInvalidDevice);
  set_peer_access(true);
  require(cudaDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 1);
  EXPECT_EQ(copy_from(other.data()), cudaErrorPeerAccessNotEnabled);
  require(cudaDeviceEnablePeerAccess(1, 0));
  EXPECT_EQ(asked(cudaDeviceEnablePeerAccess(1, 0)), cudaErrorPeerAccessAlreadyEnabled);
  EXPECT_EQ(copy_from(other.data()), cudaSuccess);
  set_devices(1);
}

TEST_F(DevicesTest, StreamsHaveRanksOfTheDevices) {
  int last = -1;
  int first = 0;
  require(cudaDeviceGetStreamPriorityRange(&last, &first));
  EXPECT_LT(first, last);
  for (const auto& [asked_for, given] : {std::pair(first, first), std::pair(first - 1, first)}) {
    cudaStream_t stream = nullptr;
    int priority = 0;
    require(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, asked_for));
    require(cudaStreamGetPriority(stream, &priority));
    EXPECT_EQ(priority, given);
    require(cudaStreamDestroy(stream));
  }
}

/// The result of instantiating a graph with work of two streams, the second of that priority.
cudaError_t instantiate_of_ranks(int priority, unsigned long long flags) {
  const OnDevice<float> memory(all_of(0));
  const Stream origin;
  const Event begun;
  const Event joined;
  cudaStream_t other = nullptr;
  require(cudaStreamCreateWithPriority(&other, cudaStreamNonBlocking, priority));
  require(cudaStreamBeginCapture(origin, cudaStreamCaptureModeThreadLocal));
  require(cudaMemsetAsync(memory.data(), 0, kBytes, origin));
  require(cudaEventRecord(begun, origin));
  require(cudaStreamWaitEvent(other, begun));
  require(cudaMemsetAsync(memory.data(), 0, kBytes, other));
  require(cudaEventRecord(joined, other));
  require(cudaStreamWaitEvent(origin, joined));
  cudaGraph_t graph = nullptr;
  require(cudaStreamEndCapture(origin, &graph));
  cudaGraphExec_t executable = nullptr;
  const cudaError_t status = asked(cudaGraphInstantiate(&executable, graph, flags));
  if (status == cudaSuccess) {
    require(cudaGraphExecDestroy(executable));
  }
  require(cudaGraphDestroy(graph));
  require(cudaStreamDestroy(other));
  return status;
}

TEST_F(DevicesTest, GraphsOfSeveralRanksHaveToKeepThem) {
  EXPECT_EQ(instantiate_of_ranks(0, 0), cudaSuccess);
  EXPECT_EQ(instantiate_of_ranks(-1, 0), cudaErrorNotSupported);
  EXPECT_EQ(instantiate_of_ranks(-1, cudaGraphInstantiateFlagUseNodePriority), cudaSuccess);
}

TEST_F(DevicesTest, EveryThreadHasOneOfSeveralDevices) {
  EXPECT_EQ(asked(cudaSetDevice(1)), cudaErrorInvalidDevice);
  set_devices(2);
  require(cudaSetDevice(1));
  std::thread([] {
    int device = -1;
    require(cudaGetDevice(&device));
    EXPECT_EQ(device, 0);
  }).join();
  int device = -1;
  require(cudaGetDevice(&device));
  EXPECT_EQ(device, 1);
  require(cudaSetDevice(0));
  set_devices(1);
}

}  // namespace
}  // namespace bench::cuda::emulator
