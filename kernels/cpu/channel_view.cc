#include "kernels/cpu/channel_view.h"

#include "models/base/errors.h"

namespace bench::cpu {
namespace {

void check_view(const ChannelView& view) {
  check(view.batch >= 0 && view.channels >= 0 && view.spatial >= 0,
        "channel view: an extent is negative");
  check(view.kind != ChannelView::Kind::blocked ||
            (view.block >= 1 && view.block <= ChannelView::kLargestBlock),
        "channel view: the block is not in 1..64");
}

}  // namespace

std::int64_t ChannelView::padded_channels() const {
  return kind == Kind::blocked ? (channels + block - 1) / block * block : channels;
}

std::int64_t ChannelView::elements() const { return batch * padded_channels() * spatial; }

ChannelTiling ChannelTiling::by_sample(const ChannelView& view) {
  check_view(view);
  ChannelTiling tiling{.batch = view.batch,
                       .groups = 1,
                       .rows = view.spatial,
                       .width = view.channels,
                       .channels = view.channels};
  if (view.kind == ChannelView::Kind::blocked) {
    tiling.width = view.block;
    tiling.groups = view.padded_channels() / view.block;
  } else if (view.kind == ChannelView::Kind::nchw && view.spatial != 1) {
    tiling.width = 1;
    tiling.groups = view.channels;
  }
  return tiling;
}

ChannelTiling ChannelTiling::joined(const ChannelView& view) {
  ChannelTiling tiling = by_sample(view);
  if (tiling.groups == 1) {
    tiling.rows *= tiling.batch;
    tiling.batch = 1;
  }
  return tiling;
}

}  // namespace bench::cpu
