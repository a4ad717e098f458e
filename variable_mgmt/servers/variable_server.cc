#include "variable_mgmt/servers/variable_server.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <future>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/base/errors.h"
#include "variable_mgmt/servers/protocol.h"
#include "variable_mgmt/world/tags.h"

namespace bench {
namespace {

/// A request with its contents.
struct Received {
  int worker = 0;
  ServerRequest request = {};
  std::shared_ptr<SharedBytes> contents = {};
};

/// Requests in the order of their arrival.
class Arrivals {
 public:
  void put(Received received) {
    const std::lock_guard lock(mutex_);
    received_.push_back(std::move(received));
    changed_.notify_one();
  }
  void cancel(const std::string& reason) {
    const std::lock_guard lock(mutex_);
    failure_ = reason;
    changed_.notify_one();
  }
  /// Waits for the next one. Throws Cancelled.
  Received take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !received_.empty() || failure_; });
    if (failure_) {
      throw Cancelled(*failure_);
    }
    Received first = std::move(received_.front());
    received_.pop_front();
    return first;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Received> received_;
  std::optional<std::string> failure_;
};

/// Receives one request of a worker.
class ReceiveTask final : public WorldTask {
 public:
  /// `buffer` receives the contents if it has their size.
  ReceiveTask(int worker, std::shared_ptr<Arrivals> arrivals, std::shared_ptr<SharedBytes> buffer)
      : received_{.worker = worker, .contents = std::move(buffer)},
        arrivals_(std::move(arrivals)) {}

  State advance(Transport& transport) override {
    if (!pending_) {
      pending_ = transport.receive(received_.worker, tag::kRequest,
                                   std::as_writable_bytes(std::span(&received_.request, 1)));
      return State::working;
    }
    if (!transport.test(*pending_)) {
      return State::idle;
    }
    if (!has_request_ && received_.request.kind != ServerRequest::Kind::end) {
      has_request_ = true;
      if (received_.contents == nullptr || received_.contents->size() != received_.request.bytes) {
        received_.contents = SharedBytes::make(received_.request.bytes);
      }
      pending_ = transport.receive(received_.worker, tag::kContents, received_.contents->span());
      return State::working;
    }
    arrivals_->put(received_);
    return State::done;
  }
  [[nodiscard]] bool waits_for(int rank) const override { return rank == received_.worker; }
  void cancel(const std::string& reason) noexcept override { arrivals_->cancel(reason); }

 private:
  Received received_;
  const std::shared_ptr<Arrivals> arrivals_;
  std::optional<Transport::Request> pending_;
  bool has_request_ = false;
};

/// Sends a reply with the values of all variables.
class ReplyTask final : public WorldTask {
 public:
  ReplyTask(int worker, const ServerReply& reply, std::shared_ptr<SharedBytes> values)
      : worker_(worker), reply_(reply), values_(std::move(values)) {}

  State advance(Transport& transport) override {
    if (!begun_) {
      begun_ = true;
      pending_ = {transport.send(worker_, tag::kReply, std::as_bytes(std::span(&reply_, 1))),
                  transport.send(worker_, tag::kValues, values_->span())};
      return State::working;
    }
    drop_done(transport, pending_);
    if (!pending_.empty()) {
      return State::idle;
    }
    sent_.set_value();
    return State::done;
  }
  void cancel(const std::string& reason) noexcept override {
    sent_.set_exception(std::make_exception_ptr(Cancelled(reason)));
  }
  std::future<void> sent() { return sent_.get_future(); }

 private:
  const int worker_;
  const ServerReply reply_;
  const std::shared_ptr<SharedBytes> values_;
  bool begun_ = false;
  std::vector<Transport::Request> pending_;
  std::promise<void> sent_;
};

/// The variables of this server, with their optimizer.
class ServedVariables {
 public:
  /// `first` has the first values, after the description of the segments.
  ServedVariables(Backend& backend, const OptimizerSettings& settings, const Received& first)
      : stream_(backend.make_stream()) {
    check(backend.shares_host_memory(), "parameter server: the device has separate memory");
    const std::size_t width = size_of(settings.dtype);
    std::vector<ServedSegment> served(first.request.segments);
    const std::size_t description = served.size() * sizeof(ServedSegment);
    check(description <= first.contents->size(), "parameter server: the request is incomplete");
    std::memcpy(served.data(), first.contents->data(), description);
    std::vector<OptimizerSegment> segments;
    std::size_t elements = 0;
    for (const ServedSegment& each : served) {
      segments.push_back({.offset = elements, .count = each.count, .decayed = each.decayed != 0});
      elements += each.count;
    }
    bytes_ = elements * width;
    check(description + bytes_ == first.contents->size(),
          "parameter server: the variables have another size");
    optimizer_ = backend.make_optimizer(settings, segments);
    const auto allocate = [&] { return backend.allocate(std::max<std::size_t>(bytes_, 1)); };
    for (std::size_t slot = 0; slot < row_of(settings.rule).slots(); ++slot) {
      memory_.push_back(allocate());
      slots_.push_back(memory_.back()->data());
    }
    variables_ = allocate();
    std::memcpy(variables_->data(), first.contents->data() + description, bytes_);
    optimizer_->reset(*stream_, slots_, &state_);
    stream_->synchronize();
  }
  ~ServedVariables() { finish(*stream_); }
  ServedVariables(const ServedVariables&) = delete;
  ServedVariables& operator=(const ServedVariables&) = delete;

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] const void* values() const { return variables_->data(); }

  /// Applies gradients that were computed with the variables `decaying`. Waits.
  void update(const ServerRequest& request, const void* gradients, const void* decaying) {
    state_.parameters = request.parameters;
    state_.set_loss_scale(request.loss_scale);
    optimizer_->launch(*stream_,
                       {.variables = variables_->data(),
                        .gradients = gradients,
                        .decaying = decaying,
                        .slots = slots_},
                       &state_);
    stream_->synchronize();
  }

 private:
  std::unique_ptr<Stream> stream_;
  std::size_t bytes_ = 0;
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<std::unique_ptr<DeviceMemory>> memory_;
  std::vector<void*> slots_;
  std::unique_ptr<DeviceMemory> variables_;
  StepState state_;
};

class VariableServer {
 public:
  VariableServer(World& world, Backend& backend, const ServerSettings& settings)
      : world_(world),
        backend_(backend),
        settings_(settings),
        arrivals_(std::make_shared<Arrivals>()),
        workers_(static_cast<std::size_t>(world.workers())) {}

  int run() {
    for (int worker = 0; worker < world_.workers(); ++worker) {
      receive_from(worker, nullptr);
    }
    int status = 0;
    for (std::size_t ended = 0; ended < workers_.size();) {
      Received received = arrivals_->take();
      const int worker = received.worker;
      switch (received.request.kind) {
        case ServerRequest::Kind::end:
          status = std::max(status, received.request.status);
          ++ended;
          break;
        case ServerRequest::Kind::variables:
          begin(received);
          receive_from(worker, nullptr);
          apply_waiting();
          break;
        case ServerRequest::Kind::gradients:
          waiting_.push_back(std::move(received));
          apply_waiting();
          break;
      }
    }
    return status;
  }

 private:
  struct Worker {
    /// The values that were sent to the worker last.
    std::shared_ptr<SharedBytes> values;
    std::future<void> sent;
  };
  Worker& of(int worker) { return workers_[static_cast<std::size_t>(worker)]; }

  void receive_from(int worker, std::shared_ptr<SharedBytes> buffer) {
    world_.submit(std::make_shared<ReceiveTask>(worker, arrivals_, std::move(buffer)));
  }

  void begin(const Received& first) {
    variables_.emplace(backend_, settings_.optimizer, first);
    updates_ = 0;
    std::shared_ptr<SharedBytes> common;
    for (Worker& worker : workers_) {
      wait_for(worker);
      if (common == nullptr || !settings_.synchronous) {
        common = SharedBytes::make(variables_->bytes());
        std::memcpy(common->data(), variables_->values(), variables_->bytes());
      }
      worker.values = common;
    }
  }

  static void wait_for(Worker& worker) {
    if (worker.sent.valid()) {
      worker.sent.get();
    }
  }

  /// Applies the gradients that need not wait for others.
  void apply_waiting() {
    if (!variables_ || (settings_.synchronous && waiting_.size() < workers_.size())) {
      return;
    }
    if (settings_.synchronous) {
      std::sort(waiting_.begin(), waiting_.end(),
                [](const Received& a, const Received& b) { return a.worker < b.worker; });
      apply(waiting_);
    } else {
      for (Received& received : waiting_) {
        apply(std::span(&received, 1));
      }
    }
    waiting_.clear();
  }

  /// Applies gradients one after the other, then sends the new values to their workers.
  void apply(std::span<Received> gradients) {
    std::vector<ServerReply> replies;
    for (const Received& received : gradients) {
      check(received.contents->size() == variables_->bytes(),
            "parameter server: the gradients have another size");
      variables_->update(received.request, received.contents->data(),
                         of(received.worker).values->data());
      replies.push_back({.staleness = updates_ - received.request.updates});
      ++updates_;
    }
    for (const Received& received : gradients) {
      wait_for(of(received.worker));
    }
    // Synchronous workers share them.
    SharedBytes& values = *of(gradients.front().worker).values;
    std::memcpy(values.data(), variables_->values(), variables_->bytes());
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      const int worker = gradients[i].worker;
      replies[i].updates = updates_;
      const auto reply = std::make_shared<ReplyTask>(worker, replies[i], of(worker).values);
      of(worker).sent = reply->sent();
      receive_from(worker, std::move(gradients[i].contents));
      world_.submit(reply);
    }
  }

  World& world_;
  Backend& backend_;
  const ServerSettings settings_;
  const std::shared_ptr<Arrivals> arrivals_;
  std::vector<Worker> workers_;
  std::optional<ServedVariables> variables_;
  std::int64_t updates_ = 0;
  /// Gradients that are not applied yet.
  std::vector<Received> waiting_;
};

}  // namespace

int serve_variables(World& world, Backend& backend, const ServerSettings& settings) {
  return VariableServer(world, backend, settings).run();
}

}  // namespace bench
