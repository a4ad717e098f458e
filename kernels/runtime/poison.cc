#include "kernels/runtime/poison.h"

#include <algorithm>
#include <array>

#include "models/base/errors.h"

namespace bench {
namespace {

constexpr std::byte kGuardPattern{0xA5};
constexpr std::byte kPoison{0xFF};

}  // namespace

/// Guards of activations are other tensors' memory at other times; regions that live throughout can
/// be checked.
template <class F>
void Poison::for_each_guard(const F& f) const {
  for (std::size_t b = 0; b < plan_.lowered.buffers.size(); ++b) {
    const Buffer& buffer = plan_.lowered.buffers[b];
    if (buffer.region == Buffer::Region::variable || buffer.region == Buffer::Region::gradient ||
        buffer.region == Buffer::Region::copy) {
      f(buffer, bound_.view(b).as<std::byte>() + buffer.bytes);
    }
  }
}

void Poison::spread(Stream& stream) const {
  for (const TensorView region : {bound_.activations(), bound_.workspace()}) {
    stream.fill(region.data, kPoison, region.bytes);
  }
  for (const LoweredGraph::Trained& trained : plan_.lowered.trained) {
    // A sparse gradient keeps its zeros.
    if (!trained.sparse_step) {
      const TensorView gradient = bound_.view(trained.gradient);
      stream.fill(gradient.data, kPoison, gradient.bytes);
    }
  }
  for_each_guard([&](const Buffer& /*buffer*/, std::byte* guard) {
    stream.fill(guard, kGuardPattern, kGuardBytes);
  });
}

void Poison::check_guards(Stream& stream) const {
  for_each_guard([&](const Buffer& buffer, const std::byte* guard) {
    std::array<std::byte, kGuardBytes> bytes{};
    stream.download(guard, bytes);
    stream.synchronize();
    check(std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == kGuardPattern; }),
          fmt::format("executor: a kernel wrote past the end of {}", buffer.name));
  });
}

}  // namespace bench
