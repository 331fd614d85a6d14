#include "bench/http_load.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/json_fields.h"
#include "core/try.h"

namespace skein::bench {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

tl::unexpected<Error> io_error(const std::string& doing) {
  return fail(ErrorCode::kIo, doing + ": " + std::strerror(errno));
}

Result<Fd> connect_to(std::uint16_t port) {
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (!fd.is_open() ||
      ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return io_error("connect");
  }
  const int one = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return fd;
}

Result<void> send_all(const Fd& fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return io_error("send");
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

// The size of a whole answer at the beginning of the text, 0 as long as it is not whole.
std::size_t answer_size(std::string_view text) {
  const std::size_t head = text.find("\r\n\r\n");
  if (head == std::string_view::npos) return 0;
  constexpr std::string_view kLength = "Content-Length: ";
  const std::size_t at = text.substr(0, head).find(kLength);
  std::size_t length = 0;
  if (at != std::string_view::npos) {
    std::from_chars(text.data() + at + kLength.size(), text.data() + head, length);
  }
  const std::size_t size = head + 4 + length;
  return text.size() < size ? 0 : size;
}

int status_of(std::string_view answer) {
  int status = 0;
  if (answer.size() > 12) std::from_chars(answer.data() + 9, answer.data() + 12, status);
  return status;
}

double status_mb(pid_t pid, std::string_view name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name)) return std::strtod(line.c_str() + name.size(), nullptr) / 1024;
  }
  return 0;
}

double processor_seconds(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string word;
  double ticks = 0;
  for (int field = 1; file >> word; ++field) {
    if (field == 14 || field == 15) ticks += std::strtod(word.c_str(), nullptr);
  }
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

void allow_many_files() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

struct Client {
  Fd fd;
  std::string read;
  SteadyClock::time_point asked{};
};

}  // namespace

Result<ServeProcess> ServeProcess::start(const std::string& workspace,
                                         const std::string& store_url) {
  std::error_code error;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", error).string();
  Spawn spawn;
  spawn.argv = {self,          "serve",   "--port",  "0",      "--json",
                "--workspace", workspace, "--store", store_url};
  SKEIN_ASSIGN(Subprocess started, Subprocess::start(spawn));
  ServeProcess serve;
  serve.process_ = std::make_unique<Subprocess>(std::move(started));
  std::string said;
  while (said.find('\n') == std::string::npos) {
    SKEIN_ASSIGN(const Subprocess::Chunk chunk, serve.process_->read(10s));
    said += chunk.out;
    if (chunk.ended) return fail(ErrorCode::kIo, "the server ended: " + chunk.err);
  }
  JsonFields fields(said.substr(0, said.find('\n')));
  serve.port_ = static_cast<std::uint16_t>(fields.take_int("port").value_or(0));
  serve.log_reader_ = std::jthread([process = serve.process_.get()](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const auto chunk = process->read(100ms);
      if (!chunk || chunk->ended) return;
    }
  });
  return serve;
}

Result<void> ServeProcess::wait_until_idle() const {
  double before = 0;
  for (int second = 0; second < 60; ++second) {
    const double now = processor_seconds(pid());
    if (second > 0 && now - before < 0.05) return {};
    before = now;
    std::this_thread::sleep_for(1s);
  }
  return fail(ErrorCode::kBusy, "the server is busy for a minute, with nothing to do");
}

double ServeProcess::resident_mb() const { return status_mb(pid(), "VmRSS:"); }
double ServeProcess::peak_mb() const { return status_mb(pid(), "VmHWM:"); }

Result<void> ServeProcess::stop() {
  process_->terminate();
  const auto exit = process_->wait(30s);
  if (exit && exit->ok()) return {};
  return fail(ErrorCode::kIo, "the server did not end well: " + (exit ? exit->str() : "it hangs"));
}

std::string http_request(std::string_view method, std::string_view target, std::string_view body) {
  std::string text = fmt::format("{} {} HTTP/1.1\r\nHost: 127.0.0.1\r\n", method, target);
  if (!body.empty()) {
    text += fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n", body.size());
  }
  return text.append("\r\n").append(body);
}

Result<std::string> ask_once(std::uint16_t port, const std::string& request) {
  SKEIN_ASSIGN(const Fd fd, connect_to(port));
  SKEIN_TRY(send_all(fd, request));
  std::string read;
  char bytes[16 << 10];
  while (answer_size(read) == 0) {
    const ssize_t got = ::recv(fd.get(), bytes, sizeof bytes, 0);
    if (got <= 0) return io_error("recv");
    read.append(bytes, static_cast<std::size_t>(got));
  }
  if (status_of(read) / 100 != 2) return fail(ErrorCode::kIo, "answered " + read);
  return read.substr(read.find("\r\n\r\n") + 4);
}

Result<HttpTimes> run_requests(const HttpWork& work) {
  const Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  std::vector<Client> clients(work.connections);
  std::vector<double> times;
  times.reserve(work.requests);
  std::size_t asked = 0;
  const auto ask = [&](std::size_t i) -> Result<void> {
    if (asked == work.requests) return {};
    const std::string request = work.request(i, asked++);
    clients[i].asked = SteadyClock::now();
    return send_all(clients[i].fd, request);
  };
  for (std::size_t i = 0; i < clients.size(); ++i) {
    SKEIN_ASSIGN(clients[i].fd, connect_to(work.port));
    epoll_event event{.events = EPOLLIN, .data = {.u64 = i}};
    ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, clients[i].fd.get(), &event);
  }
  const auto begun = SteadyClock::now();
  for (std::size_t i = 0; i < clients.size(); ++i) SKEIN_TRY(ask(i));
  char bytes[64 << 10];
  std::vector<epoll_event> events(256);
  while (times.size() < work.requests) {
    const int ready =
        ::epoll_wait(epoll.get(), events.data(), static_cast<int>(events.size()), 30'000);
    if (ready <= 0) return fail(ErrorCode::kIo, "no answer for half a minute");
    for (int e = 0; e < ready; ++e) {
      const std::size_t i = events[static_cast<std::size_t>(e)].data.u64;
      Client& client = clients[i];
      const ssize_t got = ::recv(client.fd.get(), bytes, sizeof bytes, 0);
      if (got <= 0) return fail(ErrorCode::kIo, "the server closed a connection");
      client.read.append(bytes, static_cast<std::size_t>(got));
      const std::size_t size = answer_size(client.read);
      if (size == 0) continue;
      if (status_of(client.read) != work.expected_status) {
        return fail(ErrorCode::kIo, "answered " + client.read.substr(0, 1000));
      }
      client.read.erase(0, size);
      times.push_back(std::chrono::duration<double>(SteadyClock::now() - client.asked).count());
      SKEIN_TRY(ask(i));
    }
  }
  const double seconds = std::chrono::duration<double>(SteadyClock::now() - begun).count();
  std::sort(times.begin(), times.end());
  return HttpTimes{.rate = static_cast<double>(times.size()) / seconds,
                   .p50 = times[times.size() / 2],
                   .p99 = times[times.size() * 99 / 100]};
}

Result<std::unique_ptr<StreamReaders>> StreamReaders::open(std::uint16_t port,
                                                           const std::string& target,
                                                           std::size_t count) {
  allow_many_files();
  std::unique_ptr<StreamReaders> all(new StreamReaders());
  all->epoll_ = Fd(::epoll_create1(EPOLL_CLOEXEC));
  for (std::size_t i = 0; i < count; ++i) {
    auto reader = std::make_unique<Reader>();
    SKEIN_ASSIGN(reader->fd, connect_to(port));
    SKEIN_TRY(send_all(reader->fd, http_request("GET", target, "")));
    all->readers_.push_back(std::move(reader));
  }
  for (std::size_t i = 0; i < count; ++i) {
    // The head of the answer.
    Reader& reader = *all->readers_[i];
    char byte = 0;
    while (!reader.text.ends_with("\r\n\r\n")) {
      if (::recv(reader.fd.get(), &byte, 1, 0) != 1) return io_error("recv");
      reader.text += byte;
    }
    if (status_of(reader.text) != 200) return fail(ErrorCode::kIo, "answered " + reader.text);
    reader.text.clear();
    epoll_event event{.events = EPOLLIN, .data = {.u64 = i}};
    ::epoll_ctl(all->epoll_.get(), EPOLL_CTL_ADD, reader.fd.get(), &event);
  }
  all->thread_ = std::jthread([raw = all.get()](const std::stop_token& stop) { raw->read(stop); });
  return all;
}

StreamReaders::~StreamReaders() = default;

std::uint64_t StreamReaders::least() const {
  std::uint64_t least = ~std::uint64_t{0};
  for (const auto& reader : readers_) least = std::min<std::uint64_t>(least, reader->seen);
  return least;
}

void StreamReaders::read(const std::stop_token& stop) {
  std::vector<epoll_event> events(1024);
  std::vector<char> bytes(64 << 10);
  while (!stop.stop_requested()) {
    std::this_thread::sleep_for(2ms);  // many at a time: the server needs the processor, too
    const int ready =
        ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 50);
    for (int e = 0; e < ready; ++e) {
      Reader& reader = *readers_[events[static_cast<std::size_t>(e)].data.u64];
      const ssize_t got = ::recv(reader.fd.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (got > 0) {
        take(reader, {bytes.data(), static_cast<std::size_t>(got)});
      } else if (reader.open) {
        reader.open = false;
        ++wrong_;
        ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, reader.fd.get(), nullptr);
      }
    }
  }
}

void StreamReaders::take(Reader& reader, std::string_view bytes) {
  reader.text.append(bytes);
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = reader.text.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    const std::string_view line = std::string_view(reader.text).substr(begin, end - begin);
    if (!line.starts_with("id: ")) continue;
    std::uint64_t id = 0;
    std::from_chars(line.data() + 4, line.data() + line.size(), id);
    if (id != reader.seen + 1) ++wrong_;
    reader.seen = id;
  }
  reader.text.erase(0, begin);
}

}  // namespace skein::bench
