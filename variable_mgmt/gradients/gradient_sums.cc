#include "variable_mgmt/gradients/gradient_sums.h"

#include <algorithm>

#include "variable_mgmt/gradients/sparse_gradients.h"

namespace bench {
namespace {

std::vector<FlatPiece> places_of(std::span<const OptimizerSegment> segments, DType dtype) {
  std::vector<FlatPiece> places;
  for (const OptimizerSegment& segment : segments) {
    places.push_back(
        {.offset = segment.offset * size_of(dtype), .bytes = segment.count * size_of(dtype)});
  }
  return places;
}

std::vector<Pack> packs_of(std::span<const OptimizerSegment> segments, DType dtype,
                           const SumSettings& settings) {
  std::vector<GradientSize> sizes;
  for (const OptimizerSegment& segment : segments) {
    sizes.push_back({.elements = segment.count, .dtype = settings.narrow.value_or(dtype)});
  }
  return settings.packs > 0 ? repack(sizes, settings.packs) : pack_small(sizes, settings.small);
}

std::vector<FlatPiece> bytes_of(const std::vector<SumPiece>& pieces) {
  std::vector<FlatPiece> bytes;
  for (const SumPiece& piece : pieces) {
    bytes.push_back(piece.bytes);
  }
  return bytes;
}

/// True if small gradients can be packed.
bool packs_any(const SmallGradients& small) { return small.max_bytes > 0 && small.max_group > 0; }

}  // namespace

std::vector<SumPiece> sum_pieces(std::span<const OptimizerSegment> segments, DType dtype,
                                 const SumSettings& settings) {
  segments = dense_segments(segments);
  const std::vector<FlatPiece> places = places_of(segments, dtype);
  std::vector<SumPiece> pieces;
  // Only f32 gradients are packed.
  const bool packs = settings.packs > 0 || (packs_any(settings.small) && !settings.narrow);
  if (packs || settings.spec.size() > 1) {
    for (const Pack& pack : packs_of(segments, dtype, settings)) {
      pieces.push_back({.bytes = piece_of(pack, places, dtype), .ready = pack.back().tensor + 1});
    }
  } else {
    std::vector<FinalGradient> gradients;
    for (std::size_t i = 0; i < places.size(); ++i) {
      gradients.push_back({.piece = places[i], .final_step = i});
    }
    for (const GradientBucket& bucket : plan_buckets(gradients, settings.buckets)) {
      pieces.push_back({.bytes = bucket.piece, .ready = bucket.gradients.last + 1});
    }
  }
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const SumPiece& a, const SumPiece& b) { return a.ready < b.ready; });
  return pieces;
}

GradientSums::GradientSums(Tower& tower, Collective& collective, int number,
                           const SumSettings& settings)
    : tower_(tower),
      dtype_(tower.executor().trained_dtype()),
      sent_(settings.narrow.value_or(dtype_)),
      overlap_(settings.overlap),
      nccl_timeout_(settings.nccl_timeout),
      pieces_(sum_pieces(tower.executor().segments(), dtype_, settings)),
      narrow_(settings.narrow ? std::make_unique<NarrowGradients>(tower, sent_, bytes_of(pieces_))
                              : nullptr),
      member_(collective.join(number, tower.backend(), tower.stream())) {
  handles_.reserve(pieces_.size());
  for (const SumPiece& piece : pieces_) {
    times_.pieces.push_back({.bytes = piece.bytes.bytes});
  }
  std::vector<std::size_t> ready;
  for (const SumPiece& piece : pieces_) {
    if (overlap_ && piece.ready < tower.executor().segments().size()) {
      ready.push_back(piece.ready);
    }
  }
  tower.executor().set_gradients_final(
      [this](std::size_t /*first*/, std::size_t last) {
        if (begun_ && overlap_) {
          start_until(last);
        }
      },
      std::move(ready));
}

GradientSums::~GradientSums() { tower_.executor().set_gradients_final({}); }

void GradientSums::begin_step() {
  begun_ = true;
  begun_at_ = std::chrono::steady_clock::now();
  started_ = 0;
  handles_.clear();
}

void GradientSums::start_until(std::size_t gradients) {
  while (started_ < pieces_.size() && pieces_[started_].ready <= gradients) {
    handles_.push_back(member_->start({.data = place_of(started_),
                                       .elements = pieces_[started_].bytes.bytes / size_of(dtype_),
                                       .dtype = sent_,
                                       .index = started_}));
    if (!is_first_) {
      times_.pieces[started_].ready += std::chrono::steady_clock::now() - begun_at_;
    }
    ++started_;
  }
}

void* GradientSums::place_of(std::size_t piece) {
  return narrow_ != nullptr
             ? narrow_->narrow(piece)
             : tower_.executor().gradients().as<std::byte>() + pieces_[piece].bytes.offset;
}

void GradientSums::finish_step() {
  if (!begun_) {
    begin_step();
  }
  start_until(tower_.executor().segments().size());
  if (!is_first_) {
    times_.backward += std::chrono::steady_clock::now() - begun_at_;
    ++times_.steps;
  }
  is_first_ = false;
  if (is_enqueued()) {
    member_->join();
  } else {
    for (const CollectiveMember::Handle handle : handles_) {
      member_->wait(handle, {});
    }
  }
  if (narrow_ != nullptr) {
    narrow_->widen();
  }
  begun_ = false;
}

void GradientSums::watch() {
  if (is_enqueued()) {
    member_->wait_for_stream({.deadline = std::chrono::steady_clock::now() + nccl_timeout_});
  }
}

}  // namespace bench
