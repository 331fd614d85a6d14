#include "crash/harness/socket_proxy.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
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

}  // namespace

struct SocketProxy::Pair {
  Fd client;
  Fd server;
  bool asked = false;    // the last bytes came from the client
  bool dooming = false;  // the next answer is not passed on
  bool muted = false;    // nor is anything after that
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
  const bool counts = !pair.asked && countdown_ > 0;
  pair.asked = true;
  if (counts && countdown_.fetch_sub(1) == 1) {
    if (what_ == Loses::kRequest) {
      lose_now();
      return false;
    }
    pair.dooming = true;
  }
  return send_all(pair.server.get(), bytes, static_cast<std::size_t>(size));
}

bool SocketProxy::pass_answer(Pair& pair) {
  char bytes[65536];
  const ssize_t size = ::recv(pair.server.get(), bytes, sizeof(bytes), 0);
  if (size > 0 && pair.muted) return true;
  if (pair.dooming) lose_now();
  if (size > 0 && pair.dooming && what_ == Loses::kAnswerForError) {
    pair.muted = true;
    const std::string error = internal_error();
    return send_all(pair.client.get(), error.data(), error.size());
  }
  if (size <= 0 || pair.dooming) return false;
  pair.asked = false;
  return send_all(pair.client.get(), bytes, static_cast<std::size_t>(size));
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
