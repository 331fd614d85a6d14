#include "support/loopback_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "support/expect.h"

namespace skein::test {
namespace {

constexpr std::string_view kEndOfHead = "\r\n\r\n";

std::size_t content_length(std::string head) {
  std::transform(head.begin(), head.end(), head.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::size_t at = head.find("\r\ncontent-length:");
  return at == std::string::npos ? 0 : std::strtoul(head.c_str() + at + 17, nullptr, 10);
}

}  // namespace

bool LoopbackServer::Connection::read_some() {
  char bytes[4096];
  const ssize_t n = ::recv(fd_, bytes, sizeof bytes, 0);
  if (n <= 0) return false;
  read_.append(bytes, static_cast<std::size_t>(n));
  return true;
}

std::string LoopbackServer::Connection::read_request() {
  std::size_t end = 0;
  while ((end = read_.find(kEndOfHead)) == std::string::npos) {
    if (!read_some()) return {};
  }
  end += kEndOfHead.size();
  const std::size_t size = end + content_length(read_.substr(0, end));
  while (read_.size() < size) {
    if (!read_some()) return {};
  }
  std::string request = read_.substr(0, size);
  read_.erase(0, size);
  return request;
}

bool LoopbackServer::Connection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool LoopbackServer::Connection::answer(int status, std::string_view content_type,
                                        std::string_view body, std::string_view more_headers) {
  std::string text = "HTTP/1.1 " + std::to_string(status) + " Status\r\nContent-Type: ";
  text.append(content_type).append("\r\nContent-Length: ").append(std::to_string(body.size()));
  text.append("\r\n").append(more_headers).append("\r\n").append(body);
  return send(text);
}

bool LoopbackServer::Connection::begin(int status, std::string_view content_type) {
  return send("HTTP/1.1 " + std::to_string(status) +
              " Status\r\nConnection: close\r\nContent-Type: " + std::string(content_type) +
              "\r\n\r\n");
}

void LoopbackServer::Connection::wait_for_close() {
  while (read_some()) {
  }
}

LoopbackServer::LoopbackServer(std::function<void(Connection&)> serve)
    : serve_(std::move(serve)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_.get(), generic, size) != 0 || ::listen(listener_.get(), 64) != 0 ||
      ::getsockname(listener_.get(), generic, &size) != 0) {
    must(Result<void>(fail(ErrorCode::kIo, "no server on loopback")));
  }
  port_ = ntohs(address.sin_port);
  accepting_ = std::jthread([this](const std::stop_token& stop) { accept_all(stop); });
}

LoopbackServer::~LoopbackServer() {
  accepting_.request_stop();
  ::shutdown(listener_.get(), SHUT_RDWR);
  accepting_.join();
  {
    const std::lock_guard lock(mutex_);
    for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
  }
  serving_.clear();
}

void LoopbackServer::accept_all(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const int fd = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    ++connections_;
    {
      const std::lock_guard lock(mutex_);
      open_.push_back(fd);
    }
    serving_.emplace_back([this, fd] {
      Connection connection(fd);
      serve_(connection);
      const std::lock_guard lock(mutex_);
      std::erase(open_, fd);
      ::close(fd);
    });
  }
}

std::string LoopbackServer::url() const { return "http://127.0.0.1:" + std::to_string(port_); }

}  // namespace skein::test
