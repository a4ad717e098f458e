#include "kernels/cpu/test/kernel_test.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <type_traits>

#include "models/base/errors.h"
#include "models/base/half.h"
#include "models/base/philox.h"

namespace bench::cpu::test {
namespace {

constexpr unsigned char kSentinel = 0xA5;

/// call(T{}) for dtype's type.
template <class Call>
void with_type(DType dtype, const Call& call) {
  check(dtype == DType::f32 || is_half(dtype), "no type of these tests");
  switch (dtype) {
    case DType::bf16:
      return call(Bfloat16{});
    case DType::f16:
      return call(Float16{});
    default:
      return call(float{});
  }
}

template <class T>
T as(float value) {
  if constexpr (std::is_same_v<T, Bfloat16>) {
    return narrow_to_bfloat16(static_cast<double>(value));
  } else if constexpr (std::is_same_v<T, Float16>) {
    return narrow_to_float16(static_cast<double>(value));
  } else {
    return value;
  }
}

float as_float(float value) { return value; }
float as_float(Bfloat16 value) { return widen(value); }
float as_float(Float16 value) { return widen(value); }

/// Neighbours differ by one; -0 and 0 are the same. Not for NaN.
std::int64_t ordinal(float value) {
  const auto bits = std::int64_t{std::bit_cast<std::uint32_t>(value)};
  constexpr std::int64_t kSign = std::int64_t{1} << 31;
  return bits < kSign ? bits : kSign - bits;
}
template <class Half>
std::int64_t ordinal(Half value) {
  constexpr std::int64_t kSign = std::int64_t{1} << 15;
  return value.bits < kSign ? value.bits : kSign - value.bits;
}

}  // namespace

GuardedMemory::GuardedMemory(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t readable = (bytes / page + 2) * page;
  memory_bytes_ = readable + page;
  void* const mapped =
      mmap(nullptr, memory_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(mapped != MAP_FAILED, "mmap");
  memory_ = static_cast<unsigned char*>(mapped);
  check(mprotect(memory_ + readable, page, PROT_NONE) == 0, "mprotect");
  front_bytes_ = readable - bytes;
  std::memset(memory_, kSentinel, front_bytes_);
}

GuardedMemory::~GuardedMemory() { munmap(memory_, memory_bytes_); }

bool GuardedMemory::intact() const {
  return std::all_of(memory_, memory_ + front_bytes_,
                     [](unsigned char byte) { return byte == kSentinel; });
}

GuardedFloats::GuardedFloats(std::int64_t count)
    : count_(count), memory_(static_cast<std::size_t>(count) * sizeof(float)) {
  std::fill_n(data(), count, std::numeric_limits<float>::quiet_NaN());
}

GuardedFloats::GuardedFloats(const std::vector<float>& values)
    : GuardedFloats(static_cast<std::int64_t>(values.size())) {
  std::copy(values.begin(), values.end(), data());
}

GuardedTensor::GuardedTensor(DType dtype, std::int64_t count)
    : GuardedTensor(dtype, std::vector<float>(static_cast<std::size_t>(count),
                                              std::numeric_limits<float>::quiet_NaN())) {}

GuardedTensor::GuardedTensor(DType dtype, const std::vector<float>& values)
    : dtype_(dtype),
      count_(static_cast<std::int64_t>(values.size())),
      memory_(values.size() * size_of(dtype)) {
  with_type(dtype, [&](auto type) {
    std::transform(values.begin(), values.end(), static_cast<decltype(type)*>(data()),
                   [](float value) { return as<decltype(type)>(value); });
  });
}

std::vector<float> GuardedTensor::values() const {
  std::vector<float> values(static_cast<std::size_t>(count_));
  with_type(dtype_, [&](auto type) {
    const auto* const from = static_cast<const decltype(type)*>(data());
    std::transform(from, from + count_, values.begin(), [](auto each) { return as_float(each); });
  });
  return values;
}

std::vector<float> rounded(DType dtype, std::vector<float> values) {
  with_type(dtype, [&](auto type) {
    for (float& value : values) {
      value = as_float(as<decltype(type)>(value));
    }
  });
  return values;
}

::testing::AssertionResult within_last_place(DType dtype, const std::vector<float>& given,
                                             const std::vector<float>& expected) {
  if (given.size() != expected.size()) {
    return ::testing::AssertionFailure() << given.size() << " values, not " << expected.size();
  }
  ::testing::AssertionResult result = ::testing::AssertionSuccess();
  with_type(dtype, [&](auto type) {
    using Type = decltype(type);
    for (std::size_t i = 0; i < given.size() && result; ++i) {
      const bool near =
          std::isnan(expected[i])
              ? std::isnan(given[i])
              : std::abs(ordinal(as<Type>(given[i])) - ordinal(as<Type>(expected[i]))) <= 1;
      if (!near) {
        result = ::testing::AssertionFailure()
                 << "value " << i << " is " << given[i] << " instead of " << expected[i];
      }
    }
  });
  return result;
}

Scratch::Scratch(std::size_t bytes) : memory_(bytes + 64, 0xFF), aligned_(memory_.data()) {
  std::size_t space = memory_.size();
  check(std::align(64, bytes, aligned_, space) != nullptr, "align");
}

void* Run::add(DType dtype, const std::vector<float>& values, bool result) {
  memory_.push_back(
      {.tensor = std::make_unique<GuardedTensor>(dtype, values), .dtype = dtype, .result = result});
  return memory_.back().tensor->data();
}

// Tensors of 16 bits round their values themselves.
std::vector<float> Run::held(const std::vector<float>& values) const {
  return dtype_ == half_ ? values : rounded(half_, values);
}

void* Run::input(const std::vector<float>& values) { return add(dtype_, held(values), false); }

void* Run::overwritten(const std::vector<float>& values) { return add(dtype_, held(values), true); }

void* Run::output(std::int64_t count) {
  return add(dtype_, std::vector<float>(static_cast<std::size_t>(count), NAN), true);
}

void* Run::output(const ChannelView& view) {
  void* const data = output(view.elements());
  memory_.back().view = view;
  return data;
}

float* Run::input_floats(const std::vector<float>& values) {
  return static_cast<float*>(add(DType::f32, values, false));
}

float* Run::output_floats(std::int64_t count) {
  return static_cast<float*>(
      add(DType::f32, std::vector<float>(static_cast<std::size_t>(count), NAN), true));
}

void* Run::workspace(std::size_t bytes) { return workspaces_.emplace_back(bytes).data(); }

void Run::expect_equal_but_for_rounding(const Run& f32) const {
  constexpr double kSomeEpsilons = 5e-7;
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    SCOPED_TRACE(fmt::format("{}, tensor {}", name_of(dtype_), i));
    const Memory& memory = memory_[i];
    EXPECT_TRUE(memory.tensor->intact());
    if (!memory.result) {
      continue;
    }
    const auto given = memory.tensor->values();
    const auto expected = f32.memory_[i].tensor->values();
    if (memory.dtype != DType::f32) {
      EXPECT_TRUE(within_last_place(half_, given, expected));
    } else {
      ASSERT_EQ(given.size(), expected.size());
      for (std::size_t k = 0; k < given.size(); ++k) {
        EXPECT_TRUE(
            close(static_cast<double>(given[k]), static_cast<double>(expected[k]), kSomeEpsilons));
      }
    }
    EXPECT_TRUE(!memory.view || padding_is_zero(*memory.view, given));
  }
}

void expect_halves_follow_f32(const std::function<void(Run&)>& launch) {
  for_teams([&](ThreadTeam& team) {
    for (const DType half : {DType::bf16, DType::f16}) {
      Run wide(team, DType::f32, half);
      launch(wide);
      Run narrow(team, half, half);
      launch(narrow);
      narrow.expect_equal_but_for_rounding(wide);
    }
  });
}

std::vector<float> random_floats(std::int64_t count, std::uint64_t seed, float mean,
                                 float deviation) {
  RandomStream stream(seed);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    value = mean + deviation * stream.normal();
  }
  return values;
}

std::int64_t place(const ChannelView& view, std::int64_t n, std::int64_t c, std::int64_t s) {
  switch (view.kind) {
    case ChannelView::Kind::nchw:
      return (n * view.channels + c) * view.spatial + s;
    case ChannelView::Kind::nhwc:
      return (n * view.spatial + s) * view.channels + c;
    case ChannelView::Kind::blocked:
      break;
  }
  const std::int64_t blocks = view.padded_channels() / view.block;
  return ((n * blocks + c / view.block) * view.spatial + s) * view.block + c % view.block;
}

void for_elements(const ChannelView& view,
                  const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& visit) {
  for (std::int64_t n = 0; n < view.batch; ++n) {
    for (std::int64_t c = 0; c < view.channels; ++c) {
      for (std::int64_t s = 0; s < view.spatial; ++s) {
        visit(n, c, s);
      }
    }
  }
}

std::vector<float> random_tensor(const ChannelView& view, std::uint64_t seed, float mean,
                                 float deviation) {
  RandomStream stream(seed);
  std::vector<float> values(static_cast<std::size_t>(view.elements()));
  for_elements(view, [&](std::int64_t n, std::int64_t c, std::int64_t s) {
    values[static_cast<std::size_t>(place(view, n, c, s))] = mean + deviation * stream.normal();
  });
  return values;
}

bool padding_is_zero(const ChannelView& view, const std::vector<float>& values) {
  ChannelView padded = view;
  padded.channels = view.padded_channels();
  bool zero = true;
  for_elements(padded, [&](std::int64_t n, std::int64_t c, std::int64_t s) {
    zero = zero &&
           (c < view.channels || values[static_cast<std::size_t>(place(padded, n, c, s))] == 0.0F);
  });
  return zero;
}

std::string text(const ChannelView& view) {
  const char* const kind = view.kind == ChannelView::Kind::nchw   ? "nchw"
                           : view.kind == ChannelView::Kind::nhwc ? "nhwc"
                                                                  : "blocked";
  return fmt::format("{}{} {}x{}x{}", kind, view.block, view.batch, view.channels, view.spatial);
}

std::vector<ChannelView> views() {
  struct Extents {
    std::int64_t batch;
    std::int64_t channels;
    std::int64_t spatial;
  };
  std::vector<ChannelView> all;
  for (const Extents& e : std::vector<Extents>{{1, 1, 1},
                                               {2, 3, 5},
                                               {3, 16, 7},
                                               {2, 17, 49},
                                               {4, 24, 6},
                                               {1, 64, 33},
                                               {1, 130, 9},
                                               {5, 8, 1},
                                               {3, 2, 700},
                                               {1, 1, 4999},
                                               {2, 2051, 3}}) {
    for (const auto kind :
         {ChannelView::Kind::nchw, ChannelView::Kind::nhwc, ChannelView::Kind::blocked}) {
      all.push_back({.batch = e.batch, .channels = e.channels, .spatial = e.spatial, .kind = kind});
    }
    all.push_back(all.back());
    all.back().block = 8;
  }
  return all;
}

void for_teams(const std::function<void(ThreadTeam&)>& visit) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (int threads = 1; threads <= 3; ++threads) {
      SCOPED_TRACE(fmt::format("{}, {} threads", hwy::TargetName(target), threads));
      ThreadTeam team(std::vector<int>(static_cast<std::size_t>(threads), 0), false);
      visit(team);
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

::testing::AssertionResult close(double given, double expected, double tolerance) {
  if (std::abs(given - expected) <= tolerance * (1 + std::abs(expected))) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << given << " instead of " << expected;
}

}  // namespace bench::cpu::test
