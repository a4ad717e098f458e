#include "variable_mgmt/world/gather.h"

#include "models/base/errors.h"
#include "variable_mgmt/world/tags.h"

namespace bench {

Gather::Gather(std::string text, int rank, int size)
    : rank_(rank),
      own_size_(text.size()),
      sizes_(static_cast<std::size_t>(size)),
      texts_(static_cast<std::size_t>(size)) {
  texts_[static_cast<std::size_t>(rank)] = std::move(text);
}

void Gather::begin(Transport& transport) {
  const auto own = std::as_bytes(std::span(texts_[static_cast<std::size_t>(rank_)]));
  for (int peer = 0; peer < static_cast<int>(texts_.size()); ++peer) {
    if (peer == rank_) {
      continue;
    }
    sends_.push_back(transport.send(peer, tag::kTextSize, std::as_bytes(std::span(&own_size_, 1))));
    sends_.push_back(transport.send(peer, tag::kText, own));
    const auto size = std::as_writable_bytes(std::span(&sizes_[static_cast<std::size_t>(peer)], 1));
    waiting_.push_back(
        {.peer = peer, .request = transport.receive(peer, tag::kTextSize, size), .for_size = true});
  }
}

bool Gather::receive(Transport& transport, Waiting& waiting) {
  if (!waiting.for_size) {
    return true;
  }
  const auto peer = static_cast<std::size_t>(waiting.peer);
  texts_[peer].resize(sizes_[peer]);
  waiting.request =
      transport.receive(waiting.peer, tag::kText, std::as_writable_bytes(std::span(texts_[peer])));
  waiting.for_size = false;
  return false;
}

WorldTask::State Gather::advance(Transport& transport) {
  if (!begun_) {
    begun_ = true;
    begin(transport);
    return State::working;
  }
  bool moved = drop_done(transport, sends_);
  std::erase_if(waiting_, [&](Waiting& waiting) {
    const bool done = transport.test(waiting.request);
    moved |= done;
    return done && receive(transport, waiting);
  });
  if (!waiting_.empty() || !sends_.empty()) {
    return moved ? State::working : State::idle;
  }
  result_.set_value(texts_);
  return State::done;
}

void Gather::cancel(const std::string& reason) noexcept {
  result_.set_exception(std::make_exception_ptr(Cancelled(reason)));
}

}  // namespace bench
