#include "http/listener.h"

#include <fmt/format.h>

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <thread>
#include <unordered_map>
#include <utility>

#include "http/connection.h"

namespace skein::http {
namespace asio = boost::asio;
namespace {

using asio::ip::tcp;
using boost::system::error_code;
using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kTick = 250ms;
constexpr std::chrono::milliseconds kAfterFailure = 100ms;
// Who takes nothing for so long is dropped when there is no room for the answers of others.
constexpr std::chrono::milliseconds kMostStuck = 200ms;
constexpr int kBacklog = 4096;

std::string too_many_connections() {
  const Response response =
      problem_response(Problem(503, "too_many_connections", "too many connections"), "");
  return fmt::format(
      "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\n"
      "Content-Length: {}\r\nRetry-After: 5\r\nConnection: close\r\n\r\n{}",
      response.body->size(), *response.body);
}

}  // namespace

class Listener::Impl {
 public:
  explicit Impl(const ServerOptions& options) : options_(options) {}

  bool is_own_thread() const { return at_work == this; }

  Result<void> open() {
    error_code error;
    const auto address = asio::ip::make_address(options_.address, error);
    const auto cannot = [&](const char* what) {
      return fail(
          ErrorCode::kIo,
          std::string("cannot ") + what + " " + options_.address + " port " +
              std::to_string(options_.port) + ": " + error.message() +
              (error == asio::error::address_in_use ? "; --port names another, 0 any that is free"
                                                    : ""));
    };
    if (error) {
      return fail(ErrorCode::kInvalid, "address must be an IP address, got " + options_.address);
    }
    const tcp::endpoint endpoint(address, options_.port);
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (error) return cannot("listen at");
    acceptor_.listen(kBacklog, error);
    if (error) return cannot("listen at");
    acceptor_.non_blocking(true, error);
    port_ = acceptor_.local_endpoint(error).port();
    return {};
  }

  void start(Receiver& receiver) {
    shared_ = std::make_unique<ConnectionShared>(options_, receiver, bodies_);
    shared_->now = std::chrono::steady_clock::now();
    shared_->closed = [this](Connection* connection) {
      connections_.erase(connection);
      count_ = connections_.size();
    };
    shared_->drop_slowest = [this](const Connection* for_whom) { return drop_slowest(for_whom); };
    accept();
    tick();
    thread_ = std::thread([this] { work(); });
  }

  void work() {
    at_work = this;
    context_.run();
  }

  void accept() {
    acceptor_.async_wait(tcp::acceptor::wait_read, [this](const error_code& error) {
      if (error || shared_->draining) return;
      shared_->now = std::chrono::steady_clock::now();
      accept_some();
    });
  }

  // Everybody who waits, but not so many that others do not get their turn.
  void accept_some() {
    for (int i = 0; i < 64; ++i) {
      error_code error;
      tcp::socket socket = acceptor_.accept(error);
      if (error == asio::error::would_block) return accept();
      if (error == asio::error::connection_aborted || error == asio::error::interrupted) continue;
      if (error) return accept_later();  // no descriptors, for example
      ++accepted_;
      if (connections_.size() >= options_.max_connections && !make_room()) {
        ++shared_->dropped;
        socket.non_blocking(true, error);
        socket.write_some(asio::buffer(too_many_), error);
        continue;
      }
      auto connection = std::make_shared<Connection>(std::move(socket), *shared_);
      connections_.emplace(connection.get(), connection);
      count_ = connections_.size();
      connection->start();
    }
    accept();
  }

  void accept_later() {
    make_room();
    pause_.expires_after(kAfterFailure);
    pause_.async_wait([this](const error_code& error) {
      if (!error && !shared_->draining) accept();
    });
  }

  // By closing the connection that did nothing for longest. False: all are busy.
  bool make_room() {
    std::shared_ptr<Connection> longest;
    SteadyTime since{};
    for (const auto& [key, connection] : connections_) {
      const auto idle = connection->idle_since();
      if (!idle || (longest && *idle >= since)) continue;
      longest = connection;
      since = *idle;
    }
    if (!longest) return false;
    ++shared_->dropped;
    longest->close();
    return true;
  }

  bool drop_slowest(const Connection* for_whom) {
    std::shared_ptr<Connection> slowest;
    SteadyTime since = shared_->now - kMostStuck;
    for (const auto& [key, connection] : connections_) {
      const auto stuck = connection->stuck_since();
      if (!stuck || *stuck >= since || key == for_whom) continue;
      slowest = connection;
      since = *stuck;
    }
    if (!slowest) return false;
    ++shared_->dropped;
    slowest->close();
    return true;
  }

  void tick() {
    timer_.expires_after(kTick);
    timer_.async_wait([this](const error_code& error) {
      // A timer that ran out before stop() cancelled it comes without an error.
      if (error || stopped_) return;
      shared_->now = std::chrono::steady_clock::now();
      for (const auto& connection : all()) connection->tick();
      shared_->receiver.tick(shared_->now);
      dropped_ = shared_->dropped;
      unsent_ = shared_->unsent.total();
      tick();
    });
  }

  std::vector<std::shared_ptr<Connection>> all() const {
    std::vector<std::shared_ptr<Connection>> connections;
    connections.reserve(connections_.size());
    for (const auto& [key, connection] : connections_) connections.push_back(connection);
    return connections;
  }

  void drain() {
    asio::post(context_, [this] {
      shared_->draining = true;
      error_code ignored;
      acceptor_.close(ignored);
      for (const auto& connection : all()) connection->drain();
    });
  }

  void stop() {
    if (!thread_.joinable()) return;
    asio::post(context_, [this] {
      stopped_ = true;
      shared_->draining = true;
      error_code ignored;
      acceptor_.close(ignored);
      timer_.cancel();
      pause_.cancel();
      for (const auto& connection : all()) connection->close();
      work_.reset();
    });
    thread_.join();
  }

  static thread_local const Impl* at_work;  // whose thread this is

  // Protected by nothing: the thread's own, or set before it began.
  const ServerOptions& options_;
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_ =
      asio::make_work_guard(context_);
  tcp::acceptor acceptor_{context_};
  asio::steady_timer timer_{context_};
  asio::steady_timer pause_{context_};
  bool stopped_ = false;  // nothing is begun any more
  std::uint16_t port_ = 0;
  BodyBytes bodies_;
  const std::string too_many_ = too_many_connections();
  std::unique_ptr<ConnectionShared> shared_;
  std::unordered_map<Connection*, std::shared_ptr<Connection>> connections_;

  std::atomic<std::size_t> count_{0};
  std::atomic<std::uint64_t> accepted_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::size_t> unsent_{0};
  std::thread thread_;
};

thread_local const Listener::Impl* Listener::Impl::at_work = nullptr;

Listener::Listener(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Listener::~Listener() { stop(); }

Result<std::unique_ptr<Listener>> Listener::open(const ServerOptions& options) {
  auto impl = std::make_unique<Impl>(options);
  if (auto opened = impl->open(); !opened) return tl::unexpected(std::move(opened.error()));
  return std::unique_ptr<Listener>(new Listener(std::move(impl)));
}

std::uint16_t Listener::port() const { return impl_->port_; }
void Listener::start(Receiver& receiver) { impl_->start(receiver); }
void Listener::post(std::function<void()> work) {
  if (impl_->is_own_thread()) return work();
  asio::post(impl_->context_, std::move(work));
}
void Listener::post_behind(std::function<void()> work) {
  asio::post(impl_->context_, std::move(work));
}
void Listener::drain() { impl_->drain(); }
void Listener::stop() { impl_->stop(); }

Listener::Figures Listener::figures() const {
  return {impl_->count_, impl_->accepted_, impl_->dropped_, impl_->bodies_.total(), impl_->unsent_};
}

}  // namespace skein::http
