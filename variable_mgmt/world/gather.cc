#include "variable_mgmt/world/gather.h"

#include <algorithm>

#include "models/base/errors.h"
#include "variable_mgmt/world/tags.h"

namespace bench {

Gather::Gather(std::string text, int rank, int size, std::size_t piece)
    : rank_(rank),
      piece_(piece),
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
    std::size_t begin = 0;
    do {
      const std::size_t bytes = std::min(piece_, own.size() - begin);
      sends_.push_back(transport.send(peer, tag::kText, own.subspan(begin, bytes)));
      begin += bytes;
    } while (begin < own.size());
    const auto size = std::as_writable_bytes(std::span(&sizes_[static_cast<std::size_t>(peer)], 1));
    waiting_.push_back({.peer = peer, .request = transport.receive(peer, tag::kTextSize, size)});
  }
}

bool Gather::receive(Transport& transport, Waiting& waiting) {
  const auto peer = static_cast<std::size_t>(waiting.peer);
  std::string& text = texts_[peer];
  if (!waiting.end) {
    text.resize(sizes_[peer]);
  } else if (*waiting.end == text.size()) {
    return true;
  }
  const std::size_t begin = waiting.end.value_or(0);
  const std::size_t bytes = std::min(piece_, text.size() - begin);
  const auto all = std::as_writable_bytes(std::span(text));
  waiting.request = transport.receive(waiting.peer, tag::kText, all.subspan(begin, bytes));
  waiting.end = begin + bytes;
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
  result_.set_value(std::move(texts_));
  return State::done;
}

void Gather::cancel(const std::string& reason) noexcept {
  result_.set_exception(std::make_exception_ptr(Cancelled(reason)));
}

}  // namespace bench
