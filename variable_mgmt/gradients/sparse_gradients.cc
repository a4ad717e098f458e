#include "variable_mgmt/gradients/sparse_gradients.h"

#include <algorithm>

namespace bench {

std::span<const OptimizerSegment> dense_segments(std::span<const OptimizerSegment> segments) {
  const auto sparse = std::ranges::find_if(
      segments, [](const OptimizerSegment& segment) { return segment.sparse_row > 0; });
  return segments.first(static_cast<std::size_t>(sparse - segments.begin()));
}

SparseGradients::SparseGradients(Tower& tower)
    : tower_(tower),
      first_(dense_segments(tower.executor().segments()).size()),
      own_(tower.executor().segments().size() - first_),
      all_(own_.size()) {}

SparseGradients::SparseGradients(Tower& tower, Barrier& barrier, Towers& towers, int number)
    : SparseGradients(tower) {
  barrier_ = &barrier;
  towers_ = &towers;
  number_ = static_cast<std::size_t>(number);
  towers[number_] = own_;
  all_.resize(own_.size() * towers.size());
}

std::span<const SparseGradient> SparseGradients::gather() {
  const void* const gradients = tower_.executor().gradients().data;
  for (std::size_t i = 0; i < own_.size(); ++i) {
    own_[i] = {.rows = tower_.executor().sparse_rows(first_ + i), .gradients = gradients};
  }
  if (towers_ == nullptr) {
    return own_;
  }
  tower_.wait();
  std::ranges::copy(own_, (*towers_)[number_].begin());
  barrier_->arrive();
  for (std::size_t i = 0; i < own_.size(); ++i) {
    for (std::size_t tower = 0; tower < towers_->size(); ++tower) {
      all_[i * towers_->size() + tower] = (*towers_)[tower][i];
    }
  }
  return all_;
}

void SparseGradients::release() {
  if (barrier_ != nullptr) {
    tower_.wait();
    barrier_->arrive();
  }
}

}  // namespace bench
