#include "crash/harness/socket_proxy.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skein::crash {
namespace {

constexpr char kName[] = "/.s.PGSQL.5432";

sockaddr_un address_of(const std::string& folder) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof(address.sun_path), "%s%s", folder.c_str(), kName);
  return address;
}

Fd new_socket() { return Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

bool send_all(int fd, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t sent = ::send(fd, bytes, size, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

// An ErrorResponse and a ReadyForQuery of PostgreSQL's protocol.
std::string internal_error() {
  const auto message = [](char type, const std::string& body) {
    const std::size_t size = body.size() + 4;
    return type + std::string{0, 0, static_cast<char>(size >> 8), static_cast<char>(size)} + body;
  };
  std::string fields;
  for (const char* field : {"SERROR", "VERROR", "CXX000", "Mconnection to a node was lost"})
    fields.append(field).push_back('\0');
  fields.push_back('\0');
  return message('E', fields) + message('Z', "I");
}

// Counts the messages of some types in one direction of a connection.
class MessageCounter {
 public:
  // The client's first message, the startup packet, has no type.
  MessageCounter(std::string_view types, bool begins_with_startup)
      : types_(types), header_size_(begins_with_startup ? 4 : 5) {}

  std::uint64_t count() const { return count_; }

  // Reads `bytes` until `count()` is `limit`. Returns how many bytes that took.
  std::size_t read(std::string_view bytes,
                   std::uint64_t limit = std::numeric_limits<std::uint64_t>::max()) {
    std::size_t at = 0;
    while (at < bytes.size() && count_ < limit) {
      if (header_.size() < header_size_) {
        header_ += bytes[at++];
        if (header_.size() == header_size_) body_left_ = body_size();
      } else {
        const std::size_t part = std::min(body_left_, bytes.size() - at);
        at += part;
        body_left_ -= part;
      }
      if (header_.size() == header_size_ && body_left_ == 0) end_message();
    }
    return at;
  }

 private:
  std::size_t body_size() const {
    std::size_t size = 0;
    for (const char c : std::string_view(header_).substr(header_size_ - 4))
      size = size << 8 | static_cast<unsigned char>(c);
    return size - 4;
  }

  void end_message() {
    if (header_size_ == 5 && types_.find(header_[0]) != std::string_view::npos) ++count_;
    header_.clear();
    header_size_ = 5;
  }

  const std::string_view types_;
  std::size_t header_size_;
  std::string header_;
  std::size_t body_left_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace

struct SocketProxy::Pair {
  Fd client;
  Fd server;
  // The server answers every Sync and Query by a ReadyForQuery. A message of the client may have
  // several: the store does not wait for the answers to the later ones, so they may come after its
  // next message.
  MessageCounter syncs{"SQ", true};
  MessageCounter readies{"Z", false};
  std::uint64_t answered_at = 1;  // readies.count() when the last message has its first answer
  bool dooming = false;           // that answer is not passed on
  bool muted = false;             // nor is anything after that
};

SocketProxy::SocketProxy(const std::string& server_folder)
    : server_(server_folder), listener_(new_socket()) {
  const sockaddr_un address = address_of(folder());
  if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(listener_.get(), 64) != 0) {
    std::perror("proxy");
    std::abort();
  }
  thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
}

SocketProxy::~SocketProxy() = default;

void SocketProxy::lose(int nth, Loses what, std::function<void()> meanwhile) {
  what_ = what;
  meanwhile_ = std::move(meanwhile);
  countdown_ = nth;
}

void SocketProxy::lose_now() {
  if (meanwhile_) meanwhile_();
}

bool SocketProxy::pass_request(Pair& pair) {
  char bytes[65536];
  const ssize_t size = ::recv(pair.client.get(), bytes, sizeof(bytes), 0);
  if (size <= 0) return false;
  const std::string_view request(bytes, static_cast<std::size_t>(size));
  const bool counts = pair.readies.count() >= pair.answered_at && countdown_ > 0;
  // The server says once by itself that it is ready: after the startup packet.
  if (pair.readies.count() >= pair.answered_at) pair.answered_at = pair.syncs.count() + 2;
  pair.syncs.read(request);
  if (counts && countdown_.fetch_sub(1) == 1) {
    if (what_ == Loses::kRequest) {
      lose_now();
      return false;
    }
    pair.dooming = true;
  }
  return send_all(pair.server.get(), request.data(), request.size());
}

bool SocketProxy::pass_answer(Pair& pair) {
  char bytes[65536];
  const ssize_t size = ::recv(pair.server.get(), bytes, sizeof(bytes), 0);
  if (size > 0 && pair.muted) return true;
  const std::string_view answer(bytes, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  if (!pair.dooming) {
    pair.readies.read(answer);
    return size > 0 && send_all(pair.client.get(), answer.data(), answer.size());
  }
  // What remains unread of earlier messages is passed on.
  const std::size_t earlier = pair.readies.read(answer, pair.answered_at - 1);
  pair.readies.read(answer.substr(earlier), pair.answered_at);
  if (!send_all(pair.client.get(), answer.data(), earlier)) return false;
  if (size > 0 && pair.readies.count() < pair.answered_at) return true;  // not the whole answer yet
  lose_now();
  if (size <= 0 || what_ != Loses::kAnswerForError) return false;
  pair.muted = true;
  const std::string error = internal_error();
  return send_all(pair.client.get(), error.data(), error.size());
}

void SocketProxy::serve(const std::stop_token& stop) {
  std::vector<std::unique_ptr<Pair>> pairs;
  while (!stop.stop_requested()) {
    std::vector<pollfd> sockets{{listener_.get(), POLLIN, 0}};
    for (const auto& pair : pairs) {
      sockets.push_back({pair->client.get(), POLLIN, 0});
      sockets.push_back({pair->server.get(), POLLIN, 0});
    }
    if (::poll(sockets.data(), sockets.size(), 20) <= 0) continue;
    std::vector<std::unique_ptr<Pair>> kept;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      bool open = true;
      if (sockets[1 + 2 * i].revents != 0) open = pass_request(*pairs[i]);
      if (open && sockets[2 + 2 * i].revents != 0) open = pass_answer(*pairs[i]);
      if (open) kept.push_back(std::move(pairs[i]));
    }
    pairs = std::move(kept);
    if (sockets[0].revents == 0) continue;
    auto pair = std::make_unique<Pair>();
    pair->client = Fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    pair->server = new_socket();
    const sockaddr_un address = address_of(server_);
    if (::connect(pair->server.get(), reinterpret_cast<const sockaddr*>(&address),
                  sizeof(address)) == 0)
      pairs.push_back(std::move(pair));
  }
}

}  // namespace skein::crash
