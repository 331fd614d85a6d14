#include "http/connection.h"

#include <fmt/format.h>

#include <boost/asio/buffer.hpp>
#include <ctime>
#include <utility>

#include "http/request_reader.h"

namespace skein::http {
namespace asio = boost::asio;
namespace {

using boost::system::error_code;
using namespace std::chrono_literals;

constexpr std::size_t kMaxBuffersAtOnce = 64;
constexpr std::size_t kMaxLingeredBytes = std::size_t{8} << 20;
constexpr std::chrono::milliseconds kLinger = 2s;
// Whoever gets an answer sooner is not asked whether it is still there.
constexpr std::chrono::milliseconds kAskAfter = 1s;
constexpr std::size_t kSmallBody = std::size_t{16} << 10;
// What a client takes within the write time-out, or it counts as one that takes nothing.
constexpr std::size_t kLeastTaken = std::size_t{16} << 10;

// The Date of answers, made once a second.
const std::string& date_now() {
  thread_local std::time_t second = 0;
  thread_local std::string text;
  const std::time_t now = std::time(nullptr);
  if (now != second) {
    second = now;
    std::tm parts{};
    gmtime_r(&now, &parts);
    char buffer[64];
    text.assign(buffer, std::strftime(buffer, sizeof buffer, "%a, %d %b %Y %H:%M:%S GMT", &parts));
  }
  return text;
}

std::string head_of(const Response& response) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\nDate: {}\r\n", response.status,
                                 reason_phrase(response.status), date_now());
  for (const HttpHeader& header : response.headers) {
    head.append(header.name).append(": ");
    // A value with a line end in it would be a second header, or a second answer.
    for (const char c : header.value) head += c == '\r' || c == '\n' || c == '\0' ? ' ' : c;
    head += "\r\n";
  }
  head += "X-Content-Type-Options: nosniff\r\n";
  return head;
}

}  // namespace

Connection::Connection(Socket socket, ConnectionShared& shared)
    : socket_(std::move(socket)), shared_(shared), body_(shared.bodies) {}

Connection::~Connection() = default;

void Connection::start() {
  error_code ignored;
  socket_.non_blocking(true, ignored);
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  remote_ = socket_.remote_endpoint(ignored).address().to_string();
  last_write_ = shared_.now;  // from here on it does nothing
  expect_more(shared_.options.header_timeout);
  wait_for_bytes();
}

void Connection::expect_more(std::chrono::milliseconds within) { deadline_ = shared_.now + within; }

std::optional<SteadyTime> Connection::idle_since() const {
  if (state_ != State::kIdle || !unread_.empty()) return std::nullopt;
  return last_write_;
}

std::optional<SteadyTime> Connection::stuck_since() const {
  std::size_t waiting = 0;
  for (const Bytes& bytes : out_) waiting += bytes->size();
  // Nobody gets room by the end of a small one.
  return waiting > kSmallBody ? std::optional(on_pace_) : std::nullopt;
}

void Connection::wait_for_bytes() {
  if (waiting_ || state_ == State::kClosed) return;
  waiting_ = true;
  socket_.async_wait(Socket::wait_read, [self = shared_from_this()](const error_code& error) {
    self->waiting_ = false;
    self->shared_.now = std::chrono::steady_clock::now();
    if (error) return self->close();
    self->on_readable();
  });
}

void Connection::on_readable() {
  if (state_ == State::kClosed) return;
  if (state_ == State::kHandling || state_ == State::kAnswering || state_ == State::kStreaming) {
    return look_for_end();
  }
  error_code error;
  const std::size_t got = socket_.read_some(asio::buffer(shared_.scratch), error);
  if (error == asio::error::would_block) return wait_for_bytes();
  if (error || got == 0) return close();
  if (state_ == State::kLingering) {
    lingered_ += got;
    if (lingered_ > kMaxLingeredBytes) return close();
    return wait_for_bytes();
  }
  take({shared_.scratch.data(), got});
}

// While an answer is under way, bytes wait where they are. Behind them the end of the connection
// cannot be seen; and who sends nothing more may be gone, or only be done with its requests.
void Connection::look_for_end() {
  char byte = 0;
  error_code error;
  socket_.receive(asio::buffer(&byte, 1), Socket::message_peek, error);
  if (error == asio::error::would_block) return wait_for_bytes();
  const bool ended = error == asio::error::eof;
  if (error && !ended) return close();
  ask_at_ = shared_.now + (ended ? kAskAfter : shared_.options.heartbeat);
  wait_for_error();
  if (ended && state_ == State::kStreaming && out_.empty() && !writing_) send_heartbeat();
}

// Whoever is gone answers what is sent to it with one.
void Connection::wait_for_error() {
  if (std::exchange(guarded_, true)) return;
  socket_.async_wait(Socket::wait_error, [self = shared_from_this()](const error_code&) {
    self->shared_.now = std::chrono::steady_clock::now();
    // Both sides have sent all, which counts as one too; bytes of the client may still wait.
    if (self->state_ == State::kLingering) return self->on_readable();
    self->close();
  });
}

void Connection::ask_if_there() {
  if (!ask_at_ || shared_.now < *ask_at_ || writing_) return;
  if (!version_11_) return;  // such an answer is not known there
  ask_at_ = shared_.now + shared_.options.heartbeat;
  queue_text("HTTP/1.1 102 Processing\r\n\r\n");
  write_some();
}

void Connection::take(std::string_view bytes) {
  unread_.append(bytes);
  read_requests();
}

// Until an answer is under way, or there are no more bytes.
void Connection::read_requests() {
  if (std::exchange(reading_, true)) return;
  const auto self = shared_from_this();
  while (!unread_.empty() &&
         (state_ == State::kIdle || state_ == State::kHead || state_ == State::kBody)) {
    if (state_ == State::kIdle) {
      state_ = State::kHead;
      expect_more(shared_.options.header_timeout);
      reader_ = std::make_unique<RequestReader>(shared_.options);
      head_only_ = false;
    }
    const std::size_t before = reader_->body_bytes();
    const auto taken = reader_->put(unread_);
    if (!taken) {
      malformed(taken.error());
      break;
    }
    unread_.erase(0, *taken);
    body_.add(reader_->body_bytes() - before);
    if (state_ == State::kHead && reader_->has_head()) begin_call();
    if (state_ == State::kBody && shared_.bodies.total() > shared_.options.max_buffered_bytes) {
      malformed(Problem(503, "overloaded", "too many bodies are being sent at once"));
      break;
    }
    if (state_ == State::kBody && reader_->is_done()) {
      std::string body = reader_->take_body();
      state_ = State::kHandling;
      call_->body(std::move(body), std::exchange(body_, BodyBytes::Charge(shared_.bodies)));
    } else if (*taken == 0) {
      // A head, the size of a chunk, or a trailer that does not end.
      if (unread_.size() > shared_.options.max_header_bytes + shared_.scratch.size()) {
        malformed(Problem(431, "too_large", "the head of a request, or of a chunk, is too large"));
      }
      break;
    }
  }
  reading_ = false;
  if (state_ == State::kIdle || state_ == State::kHead || state_ == State::kBody) wait_for_bytes();
  if (state_ == State::kHandling) wait_for_bytes();  // for the end of the connection
}

void Connection::begin_call() {
  auto head = reader_->head();
  version_11_ = reader_->version_11();
  keep_ = reader_->keep_alive() && !shared_.draining;
  if (!head) return malformed(head.error());
  head_only_ = head->method == "HEAD";
  head->remote = remote_;
  const bool has_body = head->chunked || head->content_length.value_or(0) > 0;
  const bool wants_more = has_body && version_11_ && reader_->expects_continue();
  state_ = State::kBody;
  expect_more(shared_.options.body_timeout);
  reader_->read_body();
  call_ = shared_.receiver.begin(std::move(*head), shared_from_this());
  if (state_ == State::kBody && wants_more) {  // and not answered by its head alone
    queue_text("HTTP/1.1 100 Continue\r\n\r\n");
    write_some();
  }
}

void Connection::malformed(const Problem& problem) {
  reader_ = nullptr;
  body_ = BodyBytes::Charge(shared_.bodies);
  unread_.clear();
  keep_ = false;
  if (call_) return call_->refuse_with(problem);
  respond(shared_.receiver.malformed(problem), true);
}

void Connection::respond(const Response& response, bool close) {
  if (state_ != State::kHead && state_ != State::kBody && state_ != State::kHandling) return;
  // The rest of a body that nobody wants is not read.
  if (close || (state_ == State::kBody && reader_ && !reader_->is_done())) keep_ = false;
  const std::size_t length = response.body ? response.body->size() : 0;
  if (length > kSmallBody && !head_only_ && !make_room(length)) {
    Problem problem(503, "overloaded", "too many answers wait for clients to take them");
    problem.headers.push_back({"Retry-After", "1"});
    return respond(shared_.receiver.malformed(problem), close);
  }
  state_ = State::kAnswering;
  last_write_ = shared_.now;
  std::string head = head_of(response);
  if (response.status != 204 && response.status != 304) {
    fmt::format_to(std::back_inserter(head), "Content-Length: {}\r\n", length);
  }
  if (!keep_) head += "Connection: close\r\n";
  if (keep_ && !version_11_) head += "Connection: keep-alive\r\n";
  head += "\r\n";
  const bool with_body = length > 0 && !head_only_;
  if (with_body && length <= kSmallBody) head += *response.body;
  queue_text(std::move(head));
  if (with_body && length > kSmallBody) queue(response.body);
  write_some();
}

void Connection::begin_stream(const Response& response, std::string_view heartbeat) {
  if (state_ != State::kHandling) return;
  state_ = State::kStreaming;
  last_write_ = shared_.now;
  heartbeat_ = heartbeat;
  chunked_ = version_11_;
  std::string head = head_of(response);
  head += chunked_ ? "Transfer-Encoding: chunked\r\n" : "Connection: close\r\n";
  if (!chunked_) keep_ = false;
  head += "\r\n";
  queue_text(std::move(head));
  write_some();
  if (head_only_) {
    last_frames_ = true;
    chunked_ = false;
  }
}

void Connection::send_frames(std::vector<Bytes> frames, bool end) {
  if (state_ != State::kStreaming || last_frames_ || cut_) return;
  std::size_t size = 0;
  for (const Bytes& frame : frames) size += frame->size();
  if (size > kSmallBody && !make_room(size)) {
    ++shared_.dropped;  // it comes again, and goes on from where it was
    return close();
  }
  if (size > 0) {
    if (chunked_) queue_text(fmt::format("{:x}\r\n", size));
    for (Bytes& frame : frames) queue(std::move(frame));
    if (chunked_) queue_text("\r\n");
  }
  if (end && chunked_) queue_text("0\r\n\r\n");
  last_frames_ = end;
  frames_queued_ = true;
  write_some();
}

void Connection::cut_stream(Bytes last_words) {
  if (state_ != State::kStreaming || last_frames_) return close();
  if (!last_words->empty()) {
    if (chunked_) queue_text(fmt::format("{:x}\r\n", last_words->size()));
    queue(std::move(last_words));
    if (chunked_) queue_text("\r\n");
  }
  cut_ = true;
  write_some();
}

bool Connection::make_room(std::size_t bytes) {
  const std::size_t most = shared_.options.max_buffered_bytes;
  const auto fits = [&] { return shared_.unsent.total() + bytes <= most; };
  while (!fits()) {
    if (!shared_.drop_slowest || !shared_.drop_slowest(this)) break;
  }
  return fits() || shared_.unsent.total() == 0;
}

void Connection::queue(Bytes bytes) {
  if (!writing_ && out_.empty()) {
    // What is said ahead of an answer gives nobody another time for the body.
    if (state_ != State::kBody) expect_more(shared_.options.write_timeout);
    on_pace_ = shared_.now;
    taken_ = 0;
  }
  shared_.unsent.add(bytes);
  out_.push_back(std::move(bytes));
}

void Connection::queue_text(std::string text) { queue(share(std::move(text))); }

void Connection::send_heartbeat() {
  if (heartbeat_.empty()) return;
  queue_text(chunked_ ? fmt::format("{:x}\r\n{}\r\n", heartbeat_.size(), heartbeat_) : heartbeat_);
  write_some();
}

void Connection::write_some() {
  if (writing_ || state_ == State::kClosed) return;
  if (out_.empty()) return all_written();
  writing_ = true;
  std::vector<asio::const_buffer> buffers;
  for (std::size_t i = 0; i < out_.size() && i < kMaxBuffersAtOnce; ++i) {
    const std::size_t skip = i == 0 ? out_sent_ : 0;
    buffers.emplace_back(out_[i]->data() + skip, out_[i]->size() - skip);
  }
  socket_.async_write_some(buffers,
                           [self = shared_from_this()](const error_code& error, std::size_t bytes) {
                             self->writing_ = false;
                             self->shared_.now = std::chrono::steady_clock::now();
                             if (error) return self->close();
                             self->on_written(bytes);
                           });
}

void Connection::on_written(std::size_t bytes) {
  if (state_ == State::kClosed) return;
  last_write_ = shared_.now;
  // Whoever takes something gets more time.
  taken_ += bytes;
  if (taken_ >= kLeastTaken) {
    taken_ = 0;
    on_pace_ = shared_.now;
    if (state_ != State::kBody) expect_more(shared_.options.write_timeout);
  }
  std::size_t whole = 0;
  bytes += out_sent_;
  while (whole < out_.size() && bytes >= out_[whole]->size()) {
    bytes -= out_[whole]->size();
    shared_.unsent.remove(out_[whole++]);
  }
  out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(whole));
  out_sent_ = bytes;
  write_some();
}

void Connection::all_written() {
  if (state_ == State::kAnswering) {
    end_call(true);
    if (!keep_) return linger();
    return next_request();
  }
  if (state_ != State::kStreaming) return;
  if (cut_) return linger();
  if (last_frames_) {
    end_call(true);
    if (!keep_) return linger();
    return next_request();
  }
  if (std::exchange(frames_queued_, false) && call_) call_->taken();
}

void Connection::end_call(bool complete) {
  reader_ = nullptr;
  body_ = BodyBytes::Charge(shared_.bodies);
  if (call_) std::exchange(call_, nullptr)->over(complete);
}

void Connection::next_request() {
  state_ = State::kIdle;
  last_frames_ = false;
  frames_queued_ = false;
  chunked_ = false;
  ask_at_.reset();
  expect_more(shared_.options.idle_timeout);
  if (shared_.draining) return linger();
  if (unread_.empty()) {
    unread_.shrink_to_fit();
    return wait_for_bytes();
  }
  read_requests();
}

// Closing while bytes of the client wait would make its system throw our answer away.
void Connection::linger() {
  end_call(!cut_);
  state_ = State::kLingering;
  expect_more(kLinger);
  error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
  wait_for_bytes();
}

void Connection::drain() {
  keep_ = false;
  if (state_ == State::kIdle) return close();
  // Nothing was begun for it, and nobody knows when the rest of it comes.
  if (state_ == State::kBody) malformed(stopping());
}

void Connection::tick() {
  if (state_ == State::kClosed) return;
  if (state_ == State::kHandling) return ask_if_there();
  if (state_ == State::kStreaming && out_.empty() && !writing_) {
    if (shared_.now - last_write_ >= shared_.options.heartbeat) send_heartbeat();
    return;
  }
  if (shared_.now < deadline_) return;
  if (state_ == State::kHead || state_ == State::kBody) {
    ++shared_.dropped;
    return malformed(Problem(408, "too_slow", "the request took too long to arrive"));
  }
  if (state_ != State::kIdle && state_ != State::kLingering) ++shared_.dropped;
  close();
}

void Connection::close() {
  if (state_ == State::kClosed) return;
  const auto self = shared_from_this();
  end_call(false);
  state_ = State::kClosed;
  error_code ignored;
  socket_.close(ignored);
  for (const Bytes& bytes : out_) shared_.unsent.remove(bytes);
  out_.clear();
  out_sent_ = 0;
  unread_ = {};
  if (shared_.closed) shared_.closed(this);
}

}  // namespace skein::http
