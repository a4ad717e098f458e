#include "variable_mgmt/servers/server_link.h"

#include <cstring>
#include <exception>

#include "models/base/errors.h"
#include "variable_mgmt/world/tags.h"

namespace bench {
namespace {

/// Sends a request, and receives the reply if one is expected.
class RequestTask final : public WorldTask {
 public:
  /// `received` is null if the server does not reply.
  RequestTask(int server, const ServerRequest& request, std::shared_ptr<SharedBytes> contents,
              std::shared_ptr<SharedBytes> received)
      : server_(server),
        request_(request),
        contents_(std::move(contents)),
        received_(std::move(received)) {}

  State advance(Transport& transport) override {
    if (!begun_) {
      begun_ = true;
      if (received_ != nullptr) {
        pending_.push_back(
            transport.receive(server_, tag::kReply, std::as_writable_bytes(std::span(&reply_, 1))));
        pending_.push_back(transport.receive(server_, tag::kValues, received_->span()));
      }
      pending_.push_back(
          transport.send(server_, tag::kRequest, std::as_bytes(std::span(&request_, 1))));
      if (contents_ != nullptr) {
        pending_.push_back(transport.send(server_, tag::kContents, contents_->span()));
      }
      return State::working;
    }
    const bool moved = drop_done(transport, pending_);
    if (!pending_.empty()) {
      return moved ? State::working : State::idle;
    }
    done_.set_value(reply_);
    return State::done;
  }
  void cancel(const std::string& reason) noexcept override {
    done_.set_exception(std::make_exception_ptr(Cancelled(reason)));
  }
  std::future<ServerReply> reply() { return done_.get_future(); }

 private:
  const int server_;
  const ServerRequest request_;
  const std::shared_ptr<SharedBytes> contents_;
  const std::shared_ptr<SharedBytes> received_;
  ServerReply reply_;
  bool begun_ = false;
  std::vector<Transport::Request> pending_;
  std::promise<ServerReply> done_;
};

std::future<ServerReply> submit(World& world, int server, const ServerRequest& request,
                                std::shared_ptr<SharedBytes> contents = nullptr,
                                std::shared_ptr<SharedBytes> received = nullptr) {
  const auto task =
      std::make_shared<RequestTask>(server, request, std::move(contents), std::move(received));
  std::future<ServerReply> reply = task->reply();
  world.submit(task);
  return reply;
}

}  // namespace

ServerLink::ServerLink(World& world, std::span<const OptimizerSegment> segments, std::size_t width)
    : world_(world), width_(width) {
  const int count = world.size() - world.workers();
  check(count > 0, "no parameter servers");
  auto parts = divide_among_servers(segments, count);
  for (int server = 0; server < count; ++server) {
    std::vector<OptimizerSegment>& part = parts[static_cast<std::size_t>(server)];
    const std::size_t bytes = count_elements(part) * width;
    servers_.push_back({.rank = world.workers() + server,
                        .segments = std::move(part),
                        .sent = SharedBytes::make(bytes),
                        .received = SharedBytes::make(bytes)});
  }
}

void ServerLink::pack(const Server& server, const std::byte* region, std::byte* packed) const {
  for (const OptimizerSegment& segment : server.segments) {
    std::memcpy(packed, region + segment.offset * width_, segment.count * width_);
    packed += segment.count * width_;
  }
}

void ServerLink::set_variables(const std::byte* variables) {
  for (Server& server : servers_) {
    server.reply = {};
  }
  if (world_.rank() != 0) {
    return;
  }
  std::vector<std::future<ServerReply>> sent;
  for (const Server& server : servers_) {
    std::vector<ServedSegment> segments;
    for (const OptimizerSegment& segment : server.segments) {
      segments.push_back({.count = segment.count, .decayed = segment.decayed ? 1U : 0U});
    }
    const auto description = std::as_bytes(std::span(segments));
    const auto contents = SharedBytes::make(description.size() + server.sent->size());
    std::memcpy(contents->data(), description.data(), description.size());
    pack(server, variables, contents->data() + description.size());
    sent.push_back(submit(world_, server.rank,
                          {.kind = ServerRequest::Kind::variables,
                           .segments = segments.size(),
                           .bytes = contents->size()},
                          contents));
  }
  for (std::future<ServerReply>& each : sent) {
    each.get();
  }
}

void ServerLink::exchange(const StepParameters& parameters, double loss_scale,
                          const std::byte* gradients, std::byte* variables) {
  std::vector<std::future<ServerReply>> replies;
  for (const Server& server : servers_) {
    pack(server, gradients, server.sent->data());
    replies.push_back(submit(world_, server.rank,
                             {.kind = ServerRequest::Kind::gradients,
                              .parameters = parameters,
                              .loss_scale = loss_scale,
                              .updates = server.reply.updates,
                              .bytes = server.sent->size()},
                             server.sent, server.received));
  }
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    Server& server = servers_[i];
    server.reply = replies[i].get();
    const std::byte* packed = server.received->data();
    for (const OptimizerSegment& segment : server.segments) {
      std::memcpy(variables + segment.offset * width_, packed, segment.count * width_);
      packed += segment.count * width_;
    }
  }
}

void end_servers(World& world, int status) noexcept {
  if (world.rank() >= world.workers()) {
    return;
  }
  std::vector<std::future<ServerReply>> sent;
  for (int server = world.workers(); server < world.size(); ++server) {
    sent.push_back(submit(world, server, {.kind = ServerRequest::Kind::end, .status = status}));
  }
  for (const std::future<ServerReply>& each : sent) {
    each.wait();
  }
}

}  // namespace bench
