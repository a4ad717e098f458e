#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cpu/channel_view.h"
#include "kernels/cpu/thread_team.h"
#include "models/base/dtype.h"

namespace bench::cpu::test {

/// Bytes that end at unreadable memory, with sentinels before them. A kernel that accesses memory
/// after them crashes; intact() detects a write before them.
class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t bytes);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  [[nodiscard]] void* data() const { return memory_ + front_bytes_; }
  [[nodiscard]] bool intact() const;

 private:
  unsigned char* memory_ = nullptr;
  std::size_t memory_bytes_ = 0;
  std::size_t front_bytes_ = 0;
};

/// Guarded floats. New ones hold NaN.
class GuardedFloats {
 public:
  explicit GuardedFloats(std::int64_t count);
  explicit GuardedFloats(const std::vector<float>& values);

  [[nodiscard]] float* data() const { return static_cast<float*>(memory_.data()); }
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] float operator[](std::int64_t i) const { return data()[i]; }
  [[nodiscard]] std::vector<float> values() const { return {data(), data() + count_}; }
  [[nodiscard]] bool intact() const { return memory_.intact(); }

 private:
  std::int64_t count_;
  GuardedMemory memory_;
};

/// Guarded elements of 32 or 16 bits, passed and read as floats. New ones hold NaN.
class GuardedTensor {
 public:
  GuardedTensor(DType dtype, std::int64_t count);
  /// Rounded to nearest.
  GuardedTensor(DType dtype, const std::vector<float>& values);

  [[nodiscard]] void* data() const { return memory_.data(); }
  [[nodiscard]] std::vector<float> values() const;
  [[nodiscard]] bool intact() const { return memory_.intact(); }

 private:
  DType dtype_;
  std::int64_t count_;
  GuardedMemory memory_;
};

/// The values as dtype represents them, to nearest.
std::vector<float> rounded(DType dtype, std::vector<float> values);

/// Each given value is at most one unit of dtype's last place away from the expected one, which is
/// rounded first. It is NaN if that is NaN.
::testing::AssertionResult within_last_place(DType dtype, const std::vector<float>& given,
                                             const std::vector<float>& expected);

/// 64-byte aligned scratch filled with NaN.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes);
  [[nodiscard]] void* data() const { return aligned_; }

 private:
  std::vector<unsigned char> memory_;
  void* aligned_;
};

/// One run of a kernel on elements of one type. It provides the kernel's memory, in the same order
/// in every run.
class Run {
 public:
  /// Tensors' elements are `dtype`; `half` represents their values exactly.
  Run(ThreadTeam& team, DType dtype, DType half) : team_(team), dtype_(dtype), half_(half) {}

  [[nodiscard]] ThreadTeam& team() const { return team_; }
  [[nodiscard]] DType dtype() const { return dtype_; }

  /// Elements of dtype, rounded to `half`.
  void* input(const std::vector<float>& values);
  void* output(std::int64_t count);
  /// Padded channels must become zeros.
  void* output(const ChannelView& view);
  /// An input that the kernel overwrites with a result.
  void* overwritten(const std::vector<float>& values);
  /// f32 in every run.
  float* input_floats(const std::vector<float>& values);
  float* output_floats(std::int64_t count);
  void* workspace(std::size_t bytes);

  /// Expects the results of the same kernel in `half` to equal those in f32, rounded once.
  void expect_equal_but_for_rounding(const Run& f32) const;

 private:
  void* add(DType dtype, const std::vector<float>& values, bool result);
  [[nodiscard]] std::vector<float> held(const std::vector<float>& values) const;
  struct Memory {
    std::unique_ptr<GuardedTensor> tensor;
    DType dtype;
    bool result;
    std::optional<ChannelView> view{};
  };
  ThreadTeam& team_;
  DType dtype_;
  DType half_;
  std::vector<Memory> memory_;
  std::vector<Scratch> workspaces_;
};

/// Runs launch(run) in f32, bf16 and f16, for every team of for_teams, and compares the results.
void expect_halves_follow_f32(const std::function<void(Run&)>& launch);

/// Normally distributed numbers that depend on the seed only.
std::vector<float> random_floats(std::int64_t count, std::uint64_t seed, float mean = 0,
                                 float deviation = 1);

/// The element's place in memory.
std::int64_t place(const ChannelView& view, std::int64_t n, std::int64_t c, std::int64_t s);
/// Random numbers for a view, the same for every kind of view; padded channels hold zeros.
std::vector<float> random_tensor(const ChannelView& view, std::uint64_t seed, float mean = 0,
                                 float deviation = 1);
/// visit(n, c, s) for every real element.
void for_elements(const ChannelView& view,
                  const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& visit);
/// Every padded element is +-0.
bool padding_is_zero(const ChannelView& view, const std::vector<float>& values);
std::string text(const ChannelView& view);

/// Odd and even sizes in every kind of view.
std::vector<ChannelView> views();

/// visit(team) for teams of 1, 2 and 3 threads, for every instruction set this machine has.
void for_teams(const std::function<void(ThreadTeam&)>& visit);

/// |given - expected| <= tolerance * (1 + |expected|).
::testing::AssertionResult close(double given, double expected, double tolerance);

}  // namespace bench::cpu::test
