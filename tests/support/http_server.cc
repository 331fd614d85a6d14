#include "support/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "api/keys.h"
#include "support/expect.h"

namespace skein::test {
namespace {

constexpr int kMinuteMs = 60'000;

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

int connected(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ADD_FAILURE() << "cannot connect to port " << port << ": " << std::strerror(errno);
  }
  return fd;
}

}  // namespace

std::string Answered::header(std::string_view name) const {
  for (const HttpHeader& known : headers) {
    if (same_name(known.name, name)) return known.value;
  }
  return {};
}

boost::json::value Answered::json() const {
  boost::system::error_code error;
  auto value = boost::json::parse(body, error);
  EXPECT_FALSE(error) << *this;
  return value;
}

std::ostream& operator<<(std::ostream& stream, const Answered& answered) {
  stream << "status " << answered.status << "\n";
  for (const HttpHeader& header : answered.headers) {
    stream << header.name << ": " << header.value << "\n";
  }
  return stream << "\n" << answered.body;
}

HttpConnection::HttpConnection(std::uint16_t port) : port_(port), fd_(connected(port)) {}

bool HttpConnection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void HttpConnection::end_sending() { ::shutdown(fd_.get(), SHUT_WR); }

void HttpConnection::send_request(std::string_view method, std::string_view target,
                                  std::string_view body, const std::vector<HttpHeader>& headers) {
  std::string text(method);
  text.append(" ").append(target).append(" HTTP/1.1\r\n");
  bool host = false;
  bool type = false;
  for (const HttpHeader& header : headers) {
    host = host || same_name(header.name, "host");
    type = type || same_name(header.name, "content-type");
    text.append(header.name).append(": ").append(header.value).append("\r\n");
  }
  if (!host) text.append("Host: 127.0.0.1:").append(std::to_string(port_)).append("\r\n");
  if (!body.empty() && !type) text += "Content-Type: application/json\r\n";
  if (!body.empty() || method == "POST" || method == "PUT" || method == "PATCH") {
    text.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
  }
  text.append("\r\n").append(body);
  send(text);
}

Answered HttpConnection::ask(std::string_view method, std::string_view target,
                             std::string_view body, const std::vector<HttpHeader>& headers) {
  send_request(method, target, body, headers);
  if (method == "HEAD") return read_head();
  return read_answer();
}

bool HttpConnection::read_some() {
  pollfd poll_fd{fd_.get(), POLLIN, 0};
  if (::poll(&poll_fd, 1, kMinuteMs) <= 0) {
    ADD_FAILURE() << "nothing came for a minute";
    return false;
  }
  char bytes[64 << 10];
  const ssize_t got = ::recv(fd_.get(), bytes, sizeof bytes, 0);
  if (got <= 0) return false;
  read_.append(bytes, static_cast<std::size_t>(got));
  return true;
}

bool HttpConnection::read_line(std::string& line) {
  std::size_t end = 0;
  while ((end = read_.find("\r\n")) == std::string::npos) {
    if (!read_some()) return false;
  }
  line = read_.substr(0, end);
  read_.erase(0, end + 2);
  return true;
}

Answered HttpConnection::read_head() {
  Answered answered;
  std::string line;
  if (!read_line(line)) return answered;
  answered.status = line.size() > 12 ? std::atoi(line.c_str() + 9) : 0;
  while (read_line(line) && !line.empty()) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    answered.headers.push_back({line.substr(0, colon), line.substr(colon + 2)});
  }
  chunked_ = answered.header("transfer-encoding") == "chunked";
  ended_ = false;
  return answered;
}

Answered HttpConnection::read_answer() {
  Answered answered = read_head();
  while (answered.status / 100 == 1) answered = read_head();
  if (answered.status == 0 || answered.status == 204) return answered;
  if (chunked_) {
    std::string line;
    while (read_line(line)) {
      const std::size_t size = std::strtoul(line.c_str(), nullptr, 16);
      while (read_.size() < size + 2 && read_some()) {
      }
      answered.body += read_.substr(0, size);
      read_.erase(0, size + 2);
      if (size == 0) break;
    }
    return answered;
  }
  const std::size_t size = std::strtoul(answered.header("content-length").c_str(), nullptr, 10);
  while (read_.size() < size && read_some()) {
  }
  answered.body = read_.substr(0, size);
  read_.erase(0, size);
  return answered;
}

bool HttpConnection::next_chunk() {
  std::string line;
  if (!read_line(line)) return false;
  const std::size_t size = std::strtoul(line.c_str(), nullptr, 16);
  while (read_.size() < size + 2) {
    if (!read_some()) return false;
  }
  if (size == 0) {
    read_.erase(0, 2);
    return false;
  }
  const auto fed =
      events_.feed(std::string_view(read_).substr(0, size), [&](const SseEvent& event) {
        ready_.push_back(event);
        return true;
      });
  EXPECT_TRUE(fed.has_value());
  read_.erase(0, size + 2);
  return true;
}

std::optional<SseEvent> HttpConnection::next_event() {
  while (ready_.empty()) {
    if (ended_ || !next_chunk()) {
      ended_ = true;
      return std::nullopt;
    }
  }
  SseEvent event = std::move(ready_.front());
  ready_.erase(ready_.begin());
  return event;
}

bool HttpConnection::wait_for_close() {
  while (read_some()) read_.clear();
  return true;
}

TestServer::TestServer() : TestServer(Setup{}) {}

TestServer::TestServer(Setup setup) {
  const std::filesystem::path skein = folder_.path() / ".skein";
  std::filesystem::create_directories(skein);
  if (!setup.config.empty()) std::ofstream(skein / "config.json") << setup.config;
  SettingsRequest request;
  request.workspace = folder_.path().string();
  if (!setup.named_config.empty()) {
    request.config = (folder_.path() / "named.json").string();
    std::ofstream(*request.config) << setup.named_config;
  }
  if (setup.backend == "memory") request.store = "memory:";
  if (setup.backend == "jsonl") request.store = "jsonl:" + (folder_.path() / "threads").string();
  if (setup.backend == "sqlite") request.store = "sqlite:" + (skein / "skein.db").string();
  auto settings = resolve_settings(request);
  if (!settings) {
    ADD_FAILURE() << settings.error().message;
    std::abort();
  }
  auto store = open_settled_store(*settings, IfMissing::kCreate);
  if (!store) {
    ADD_FAILURE() << store.error().message;
    std::abort();
  }
  store_ = std::move(*store);
  signer_ = settings->signer;
  http::Server::Parts parts;
  parts.settings = std::move(*settings);
  parts.options = std::move(setup.options);
  parts.options.port = 0;
  parts.more_routes = std::move(setup.more_routes);
  parts.background = setup.background;
  parts.log = std::move(setup.log);
  parts.make_thread = std::move(setup.make_thread);
  auto server = http::Server::start(*store_, std::move(parts));
  if (!server) {
    ADD_FAILURE() << server.error().message;
    std::abort();
  }
  server_ = std::move(*server);
}

TestServer::~TestServer() = default;

ApiKeys TestServer::keys() { return {*store_, system_clock(), random_ids(), signer_}; }

std::string TestServer::make_key(http::Access access, std::vector<std::string> agents) {
  NewApiKey key;
  key.access = http::to_string(access);
  key.agents = std::move(agents);
  auto made = keys().create(key);
  EXPECT_TRUE(made.has_value()) << made.error().message;
  if (auto refreshed = server_->refresh_keys(); !refreshed) {
    ADD_FAILURE() << refreshed.error().message;
  }
  return made->secret;
}

Answered TestServer::ask(std::string_view method, std::string_view target, std::string_view body,
                         std::string_view key) {
  std::vector<HttpHeader> headers;
  if (!key.empty()) headers.push_back({"Authorization", "Bearer " + std::string(key)});
  return HttpConnection(port()).ask(method, target, body, headers);
}

}  // namespace skein::test
