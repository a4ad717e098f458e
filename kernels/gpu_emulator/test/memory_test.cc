// Memory that is accessed at a wrong place, at a wrong time, or by the wrong side.

#include "kernels/gpu_emulator/test/emulated_test.h"

namespace bench::cuda::emulator {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;

template <int index>
void write_at(float* memory) {
  // A signed index that is computed at run time: all compilers then write at the same place.
  const std::ptrdiff_t place = index + static_cast<int>(threadIdx.x);
  memory[place] = 1;
}

void plus_one(const float* from, float* to) { to[threadIdx.x] = from[threadIdx.x] + 1; }

void plus_one_through(float* const* table, float* to) {
  to[threadIdx.x] = table[0][threadIdx.x] + 1;
}

class MemoryTest : public EmulatedTest {
 protected:
  using Kernel = void (*)(float*);
  /// The failure of a kernel over 25 numbers, a count that is not a multiple of the alignment.
  static std::string failure_of_kernel(Kernel kernel) {
    const OnDevice<float> memory(25);
    return failure_of([&] { launch(nullptr, {"planted", 1, 1}, kernel, memory.data()); });
  }
};
using MemoryDeathTest = MemoryTest;

TEST_F(MemoryTest, NoKernelWritesOutsideAnAllocation) {
  EXPECT_THAT(failure_of_kernel(write_at<25>),
              HasSubstr("planted wrote 0 bytes past the end of an allocation of 100 bytes"));
  EXPECT_THAT(failure_of_kernel(write_at<-1>),
              HasSubstr("planted wrote 4 bytes before the start of an allocation of 100 bytes"));
  EXPECT_THAT(failure_of_kernel(write_at<24>), IsEmpty());
  EXPECT_THAT(failure_of_kernel(write_at<0>), IsEmpty());
}

TEST_F(MemoryDeathTest, NoKernelAccessesPagesNextToAnAllocation) {
  EXPECT_DEATH(failure_of_kernel(write_at<1000>),
               "kernel planted, block \\(0, 0, 0\\), lane 0: accessed .*: 3900 bytes past the end "
               "of an allocation of 100 bytes");
  EXPECT_DEATH(failure_of_kernel(write_at<-1000>),
               "kernel planted, block \\(0, 0, 0\\), lane 0: accessed .*: 4000 bytes before the "
               "start of an allocation of 100 bytes");
}

TEST_F(MemoryTest, AKernelIsNotGivenFreedMemory) {
  const OnDevice<float> to(1);
  OnDevice<float> from(std::vector<float>{1});
  const auto run = [&](const float* address) {
    return failure_of([&] { launch(nullptr, {"planted", 1, 1}, plus_one, address, to.data()); });
  };
  const float* const address = from.data();
  EXPECT_THAT(run(address), IsEmpty());
  from.free();
  EXPECT_EQ(run(address),
            "kernel planted: argument 1 is an address of memory that was freed or never allocated");
}

TEST_F(MemoryDeathTest, AKernelFindsNoFreedMemory) {
  const OnDevice<float> to(1);
  OnDevice<float> from(std::vector<float>{1});
  const OnDevice<float*> table(std::vector<float*>{from.data()});
  const auto run = [&] {
    return failure_of([&] {
      launch(nullptr, {"planted", 1, 1}, plus_one_through, table.data(), to.data());
    });
  };
  EXPECT_THAT(run(), IsEmpty());
  from.free();
  EXPECT_DEATH(run(),
               "kernel planted, block \\(0, 0, 0\\), lane 0: accessed .*: memory that was freed or "
               "never allocated");
}

TEST_F(MemoryTest, AKernelIsNotGivenTheHostsMemory) {
  const OnDevice<float> to(1);
  const std::vector<float> host = {1};
  const Pinned<float> pinned(host);
  const auto run = [&](const float* from) {
    return failure_of([&] { launch(nullptr, {"planted", 1, 1}, plus_one, from, to.data()); });
  };
  EXPECT_EQ(run(host.data()), "kernel planted: argument 1 is an address of host memory");
  EXPECT_THAT(run(pinned.data()), IsEmpty());
}

TEST_F(MemoryDeathTest, TheHostDoesNotTouchTheDevicesMemory) {
  const OnDevice<float> memory(std::vector<float>{1});
  const Pinned<float> pinned({1});
  EXPECT_DEATH(*static_cast<volatile float*>(memory.data()) = 2,
               "the host accessed device memory at ");
  pinned[0] = 2;
  EXPECT_EQ(pinned[0], 2);
}

TEST_F(MemoryTest, UninitializedMemoryIsNan) {
  const OnDevice<float> unset(8);
  EXPECT_THAT(unset.values(), Each(testing::IsNan()));
  const OnDevice<float> sum(8);
  launch(nullptr, {"planted", 1, 8}, plus_one, unset.data(), sum.data());
  EXPECT_THAT(sum.values(), Each(testing::IsNan()));
  require(cudaMemset(unset.data(), 0, 8 * sizeof(float)));
  launch(nullptr, {"planted", 1, 8}, plus_one, unset.data(), sum.data());
  EXPECT_THAT(sum.values(), Each(1.0F));
}

TEST_F(MemoryTest, CopiesStayWithinAnAllocation) {
  const OnDevice<float> memory(25);
  std::vector<float> host(26);
  const auto copy = [&](float* to, const float* from, std::size_t count) {
    return refusal_of(cudaMemcpy(to, from, count * sizeof(float), cudaMemcpyDefault));
  };
  EXPECT_THAT(copy(memory.data(), host.data(), 26),
              HasSubstr("the target is not within one allocation of the device"));
  EXPECT_THAT(copy(memory.data() + 1, host.data(), 25), HasSubstr("the target is not"));
  EXPECT_THAT(copy(host.data(), memory.data(), 26), HasSubstr("the source is not"));
  EXPECT_THAT(refusal_of(cudaMemset(memory.data(), 0, 101)),
              HasSubstr("the target is not within one allocation"));
  EXPECT_THAT(copy(memory.data(), host.data(), 25), IsEmpty());
  EXPECT_THAT(copy(memory.data() + 1, host.data(), 24), IsEmpty());
  EXPECT_THAT(copy(host.data(), memory.data(), 25), IsEmpty());
  EXPECT_THAT(refusal_of(cudaMemset(memory.data(), 0, 100)), IsEmpty());
}

TEST_F(MemoryTest, ACopySaysItsKind) {
  const OnDevice<float> memory(1);
  const float host = 1;
  const auto copy = [&](cudaMemcpyKind kind) {
    return refusal_of(cudaMemcpy(memory.data(), &host, sizeof host, kind));
  };
  for (const cudaMemcpyKind wrong :
       {cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyHostToHost}) {
    EXPECT_THAT(copy(wrong), HasSubstr("the copy's kind does not match its memory"));
  }
  EXPECT_THAT(copy(cudaMemcpyHostToDevice), IsEmpty());
  EXPECT_THAT(copy(cudaMemcpyDefault), IsEmpty());
}

TEST_F(MemoryTest, MemoryIsFreedOnceAndAsItWasGivenOut) {
  void* memory = nullptr;
  require(cudaMalloc(&memory, 512));
  EXPECT_EQ(asked(cudaFree(static_cast<std::byte*>(memory) + 256)), cudaErrorInvalidValue);
  EXPECT_EQ(asked(cudaFreeHost(memory)), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(asked(cudaFree(memory)), cudaErrorInvalidValue);
}

TEST_F(MemoryTest, NoMoreIsGivenOutThanTheDeviceHas) {
  std::size_t free = 0;
  std::size_t total = 0;
  require(cudaMemGetInfo(&free, &total));
  set_device_memory(std::size_t{1} << 20);
  void* memory = nullptr;
  EXPECT_THAT(refusal_of(cudaMalloc(&memory, (std::size_t{1} << 20) + 1)),
              HasSubstr("out of memory"));
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(cudaMalloc(&memory, std::size_t{1} << 20), cudaSuccess);
  require(cudaFree(memory));
  set_device_memory(total);
}

}  // namespace
}  // namespace bench::cuda::emulator
