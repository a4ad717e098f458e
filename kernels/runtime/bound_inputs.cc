#include "kernels/runtime/bound_inputs.h"

#include "models/base/errors.h"

namespace bench {

BoundInputs::BoundInputs(const Plan& plan, BoundPlan& bound, Backend& backend, Stream& kernels)
    : plan_(plan), bound_(bound), backend_(backend), kernels_(kernels) {
  if (!backend.shares_host_memory()) {
    landing_ = std::make_unique<InputLanding>(plan, backend, kernels);
  }
  for (const ValueId id : plan.graph.inputs()) {
    Place& place = places_.emplace_back();
    place.buffer = plan.lowered.buffer_of[at(id)];
    for (std::size_t s = 0; s < bound.steps().size(); ++s) {
      const std::vector<std::size_t>& read = plan.lowered.steps[s].inputs;
      for (std::size_t i = 0; i < read.size(); ++i) {
        if (read[i] == place.buffer) {
          place.uses.push_back(&bound.steps()[s].inputs[i]);
        }
      }
    }
  }
}

std::size_t BoundInputs::find(const std::string& name) const {
  for (std::size_t input = 0; input < places_.size(); ++input) {
    if (buffer(input).name == name) {
      return input;
    }
  }
  throw InternalError(fmt::format("executor: unknown input {}", name));
}

const Buffer& BoundInputs::buffer(std::size_t input) const {
  return plan_.lowered.buffers[places_[input].buffer];
}

void BoundInputs::bind(Place& place, void* data) {
  for (TensorView* use : place.uses) {
    use->data = data;
  }
  place.given = true;
}

void BoundInputs::feed(std::size_t input, std::span<const std::byte> host,
                       const ContentId& content) {
  Place& place = places_[input];
  const Buffer& wanted = buffer(input);
  if (host.size() != wanted.bytes) {
    throw InternalError(fmt::format("executor: {} takes {} bytes, but {} were given", wanted.name,
                                    wanted.bytes, host.size()));
  }
  if (landing_ == nullptr) {
    // Kernels only read their inputs.
    bind(place, const_cast<std::byte*>(host.data()));  // NOLINT(*-const-cast)
    return;
  }
  fill(place, {.host = host, .content = content}, nullptr);
}

void BoundInputs::feed_pixels(std::size_t input, std::span<const std::uint8_t> host,
                              const ContentId& content) {
  Place& place = places_[input];
  const Buffer& wanted = buffer(input);
  if (static_cast<std::int64_t>(host.size()) != wanted.type.shape.elements()) {
    throw InternalError(fmt::format("executor: {} takes {} bytes of pixels, but {} were given",
                                    wanted.name, wanted.type.shape.elements(), host.size()));
  }
  if (place.normalization == nullptr) {
    place.normalization =
        backend_.make_normalization({}, {.type = wanted.type, .layout = wanted.layout});
  }
  fill(place, {.host = std::as_bytes(host), .content = content}, place.normalization.get());
}

void BoundInputs::fill(Place& place, const Fed& fed, Kernel* through) {
  const TensorView memory = bind_own_memory(place);
  if (fed.same_as(place.fed)) {
    return;
  }
  place.fed = {};  // After a failure the contents are unknown.
  if (landing_ != nullptr) {
    landing_->bring(place.buffer, fed.host, memory, through);
  } else {
    // Kernels only read their inputs.
    const TensorView given{.data = const_cast<std::byte*>(fed.host.data()),  // NOLINT(*-const-cast)
                           .bytes = fed.host.size()};
    through->launch(kernels_, {&given, 1}, {&memory, 1}, nullptr);
  }
  place.fed = fed;
}

void BoundInputs::begin_ahead() {
  check(landing_ != nullptr, "executor: inputs in the host's memory cannot be fed ahead");
  landing_->begin_ahead();
}

void BoundInputs::take_ahead() { landing_->take(); }

std::chrono::nanoseconds BoundInputs::transfer_time() {
  return landing_ == nullptr ? std::chrono::nanoseconds(0) : landing_->transfer_time();
}

TensorView BoundInputs::own_memory(std::size_t input) {
  Place& place = places_[input];
  place.fed = {};
  return bind_own_memory(place);
}

TensorView BoundInputs::bind_own_memory(Place& place) {
  TensorView view = bound_.view(place.buffer);
  if (view.data == nullptr) {
    if (place.own == nullptr) {
      place.own = backend_.allocate(view.bytes);
    }
    view.data = place.own->data();
  }
  bind(place, view.data);
  return view;
}

void BoundInputs::check_given() {
  if (checked_) {
    return;
  }
  for (std::size_t input = 0; input < places_.size(); ++input) {
    check(places_[input].given, fmt::format("executor: input {} is not bound", buffer(input).name));
  }
  checked_ = true;
}

}  // namespace bench
