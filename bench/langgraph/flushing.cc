// flushing FILE: a server that answers a request with what it was last given for its path by PUT,
// after it wrote a page to FILE and flushed it as often as the header "flushes" of that PUT said:
// what no durable server can do without, and nothing else. One flush serves all requests that wait.
// Prints its port.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace {

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::exit(1);
}

// A file of pages that are there before they are written, so that a flush writes one page and
// nothing about the file.
class Log {
 public:
  explicit Log(const char* path) : file_(::open(path, O_CREAT | O_RDWR, 0600)) {
    for (int i = 0; i < kPages; ++i) write_page();
    if (file_ < 0 || ::fsync(file_) != 0) give_up(path);
  }
  void flush() {
    write_page();
    if (::fdatasync(file_) != 0) give_up("fdatasync");
  }

 private:
  static constexpr int kPages = 4096;
  void write_page() {
    next_ = (next_ + 1) % kPages;
    const auto at = static_cast<off_t>(next_) * static_cast<off_t>(page_.size());
    if (::pwrite(file_, page_.data(), page_.size(), at) < 0) give_up("pwrite");
  }

  int file_;
  int next_ = 0;
  std::array<char, 4096> page_{};
};

struct Request {
  std::string method;
  std::string path;  // with * for a thread: which one does not matter
  std::string body;
  int flushes = 0;
};

int number_of_header(const std::string& head, const char* name) {
  const char* found = ::strcasestr(head.c_str(), name);
  return found == nullptr ? 0 : std::atoi(found + std::strlen(name));
}

// Takes the first request out of what was received. False: it is not whole yet.
bool take(std::string& received, Request& request) {
  static const std::regex kThread("[0-9a-f-]{36}");
  const std::size_t end = received.find("\r\n\r\n");
  if (end == std::string::npos) return false;
  const std::string head = received.substr(0, end);
  const auto length = static_cast<std::size_t>(number_of_header(head, "\r\ncontent-length:"));
  if (received.size() < end + 4 + length) return false;
  const std::size_t method = head.find(' ');
  const std::size_t path = head.find(' ', method + 1);
  request.method = head.substr(0, method);
  request.path = std::regex_replace(head.substr(method + 1, path - method - 1), kThread, "*");
  request.body = received.substr(end + 4, length);
  request.flushes = number_of_header(head, "\r\nflushes:");
  received.erase(0, end + 4 + length);
  return true;
}

struct Answer {
  std::string bytes;
  int flushes = 0;
};

class Server {
 public:
  explicit Server(Log& log) : log_(log), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, generic, size) != 0 || ::listen(listener_, 128) != 0) give_up("listen");
    ::getsockname(listener_, generic, &size);
    watch(listener_);
    std::printf("%d\n", ntohs(address.sin_port));
    std::fflush(stdout);
  }

  void serve_once() {
    std::array<epoll_event, 64> ready{};
    const int count = ::epoll_wait(epoll_, ready.data(), static_cast<int>(ready.size()), -1);
    for (int i = 0; i < count; ++i) {
      const int fd = ready[static_cast<std::size_t>(i)].data.fd;
      if (fd == listener_)
        accept();
      else
        read(fd);
    }
    int most = 0;
    for (const auto& [fd, answer] : due_) most = std::max(most, answer->flushes);
    for (int flushes = 0; flushes <= most; ++flushes) {
      if (flushes > 0) log_.flush();
      for (const auto& [fd, answer] : due_) {
        if (answer->flushes == flushes)
          ::send(fd, answer->bytes.data(), answer->bytes.size(), MSG_NOSIGNAL);
      }
    }
    due_.clear();
  }

 private:
  void watch(int fd) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) give_up("epoll_ctl");
  }

  void accept() const {
    const int fd = ::accept(listener_, nullptr, nullptr);
    const int yes = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    watch(fd);
  }

  void read(int fd) {
    std::array<char, 65536> buffer;
    const ssize_t got = ::recv(fd, buffer.data(), buffer.size(), 0);
    std::string& received = received_[fd];
    if (got <= 0) {
      received_.erase(fd);
      ::close(fd);
      return;
    }
    received.append(buffer.data(), static_cast<std::size_t>(got));
    for (Request request; take(received, request);) {
      Answer& answer = answers_[request.path];
      if (request.method == "PUT") {
        answer.flushes = request.flushes;
        answer.bytes = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: " +
                       std::to_string(request.body.size()) + "\r\n\r\n" + request.body;
      }
      due_.emplace_back(fd, &answer);
    }
  }

  Log& log_;
  const int listener_;
  const int epoll_ = ::epoll_create1(0);
  std::map<int, std::string> received_;
  std::map<std::string, Answer> answers_;
  std::vector<std::pair<int, const Answer*>> due_;
};

}  // namespace

int main(int /*count*/, char** words) {
  Log log(words[1]);
  for (Server server(log);;) server.serve_once();
}
