#include "mcp/stdio_server.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/file.h"
#include "core/quote.h"
#include "core/try.h"
#include "mcp/limits.h"
#include "rpc/mcp_protocol.h"

namespace skein::mcp {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kReadBytes = std::size_t{64} << 10;
constexpr auto kLong = 20ms;  // after which the requests behind one go ahead
// After a write, in which more may gather for the next one: waking the writer for each answer costs
// more than the answer.
constexpr auto kGather = 100us;

// Two texts of one id have one key.
std::string key_of(const Json& id) { return canonical_scalar(id.text()).value_or(id.text()); }

std::string refusal(const Json& id, std::int64_t code, std::string message) {
  return rpc_line(RpcRefusal{id, {code, std::move(message)}});
}

}  // namespace

StdioServer::StdioServer(Server& server, int in, int out)
    : server_(server), in_(in), out_(out), peer_([this](std::string line) { write(line); }) {
  writer_ = std::jthread([this] { write_out(); });
  for (std::size_t i = 0; i < limits::kWorkers; ++i) workers_.emplace_back([this] { work(); });
}

StdioServer::~StdioServer() { finish(); }

void StdioServer::finish() {
  peer_.end();  // nobody will answer what was asked
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  workers_.clear();  // waits for all that came
  std::map<std::string, std::unique_ptr<Watch::Listening>> listening;
  {
    const std::lock_guard lock(mutex_);
    listening.swap(listening_);
  }
  listening.clear();
  {
    const std::lock_guard lock(out_mutex_);
    out_ended_ = true;
    out_changed_.notify_all();
  }
  if (writer_.joinable()) writer_.join();
}

Result<void> StdioServer::run() {
  LineBuffer lines(skein::limits::kMaxRpcBytes);
  LineBuffer::Line line;
  while (true) {
    char* const room = lines.room(kReadBytes);
    const ssize_t got = ::read(in_, room, kReadBytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int error = errno;
      finish();
      return tl::unexpected(io_error("read", "standard input", error));
    }
    if (got == 0) {
      lines.end();
    } else {
      lines.fill(static_cast<std::size_t>(got));
    }
    while (lines.next(line)) take_line(line);
    if (got == 0) break;
  }
  finish();
  const std::lock_guard lock(out_mutex_);
  if (out_error_) return tl::unexpected(*out_error_);
  return {};
}

void StdioServer::take_line(const LineBuffer::Line& line) {
  const Json null = Json::trusted("null");
  if (line.too_long) {
    write(refusal(null, kRpcParseError,
                  "a message must have at most " + std::to_string(skein::limits::kMaxRpcBytes) +
                      " bytes; a longer line was passed over"));
    return;
  }
  const std::string_view text = trim_json(line.text);
  if (text.empty()) return;
  if (text.starts_with('[')) return take_array(text);
  auto message = parse_rpc(text);
  if (!message) return write(rpc_line(message.error()));
  if (auto* request = std::get_if<RpcRequest>(&*message)) {
    take_request(std::move(*request), text.size());
  } else if (const auto* notification = std::get_if<RpcNotification>(&*message)) {
    take_notification(*notification);
  } else {
    peer_.settle(std::get<RpcResponse>(*message));
  }
}

// Only 2025-03-26 has them.
void StdioServer::take_array(std::string_view text) {
  if (peer_.version() != "2025-03-26") {
    return write(refusal(Json::trusted("null"), kRpcInvalidRequest,
                         "send each message by itself: this protocol version has no arrays"));
  }
  Job job;
  job.array = true;
  job.bytes = text.size();
  job.messages = parse_rpc_batch(text);
  for (auto& message : job.messages) {
    std::shared_ptr<Open> open;
    if (message) {
      if (const auto* request = std::get_if<RpcRequest>(&*message)) {
        open = open_request(request->id);
        if (!open) {
          message = tl::unexpected(
              RpcRefusal{request->id,
                         {kRpcInvalidRequest, "this id belongs to a request that is open still"}});
        }
      } else if (const auto* notification = std::get_if<RpcNotification>(&*message)) {
        take_notification(*notification);
      } else {
        peer_.settle(std::get<RpcResponse>(*message));
      }
    }
    job.open.push_back(std::move(open));
  }
  enqueue(std::move(job));
}

void StdioServer::take_request(RpcRequest request, std::size_t bytes) {
  auto open = open_request(request.id);
  if (!open) {
    return write(refusal(
        request.id, kRpcInvalidRequest,
        "the id " + excerpt(request.id.text()) + " belongs to a request that is open still"));
  }
  Job job;
  job.bytes = bytes;
  job.messages.emplace_back(std::move(request));
  job.open.push_back(std::move(open));
  enqueue(std::move(job));
}

void StdioServer::take_notification(const RpcNotification& notification) {
  if (notification.method != "notifications/cancelled") return server_.tell(notification, peer_);
  JsonFields fields(notification.params.empty() ? "{}" : notification.params.text());
  for (const JsonFields::Field& field : fields.others()) {
    if (field.name == "requestId") cancel(Json::trusted(std::string(field.value)));
  }
}

std::shared_ptr<StdioServer::Open> StdioServer::open_request(const Json& id) {
  const std::string key = key_of(id);
  const std::lock_guard lock(mutex_);
  if (listening_.contains(key)) return nullptr;
  auto [place, fresh] = open_.try_emplace(key, nullptr);
  if (!fresh) return nullptr;
  place->second = std::make_shared<Open>();
  return place->second;
}

void StdioServer::cancel(const Json& id) {
  std::unique_ptr<Watch::Listening> listening;
  std::shared_ptr<Open> open;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = open_.find(key_of(id)); found != open_.end()) {
      open = found->second;
      open->cancelled = true;
    }
    if (const auto found = listening_.find(key_of(id)); found != listening_.end()) {
      listening = std::move(found->second);
      listening_.erase(found);
    }
  }
  if (open) open->stop.request_stop();
}

void StdioServer::enqueue(Job job) {
  std::unique_lock lock(mutex_);
  reader_waits_ = true;
  room_.wait(lock, [this] {
    return jobs_.size() < limits::kMaxOpenRequests && waiting_bytes_ < limits::kMaxWaitingBytes;
  });
  reader_waits_ = false;
  waiting_bytes_ += job.bytes;
  jobs_.push_back(std::move(job));
  // While one runs and another stands by, nobody else need wake up.
  if (current_ == 0 || standing_by_ == 0) changed_.notify_one();
}

std::optional<StdioServer::Job> StdioServer::next_job() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (jobs_.empty()) {
      if (ended_) return std::nullopt;
      changed_.wait(lock);
      continue;
    }
    const auto now = Steady::now();
    if (current_ != 0 && now < last_start_ + kLong) {
      ++standing_by_;
      changed_.wait_until(lock, last_start_ + kLong);
      --standing_by_;
      continue;
    }
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    waiting_bytes_ -= job.bytes;
    job.number = current_ = ++started_;
    last_start_ = now;
    if (!jobs_.empty() && standing_by_ == 0) changed_.notify_one();
    // Once there is room for many: else the two would take turns, a request each.
    if (reader_waits_ && jobs_.size() <= limits::kMaxOpenRequests / 2 &&
        waiting_bytes_ <= limits::kMaxWaitingBytes / 2) {
      room_.notify_one();
    }
    return job;
  }
}

void StdioServer::work() {
  while (auto job = next_job()) {
    run_job(*job);
    const std::lock_guard lock(mutex_);
    if (current_ == job->number) current_ = 0;
  }
}

void StdioServer::run_job(Job& job) {
  std::string answers;
  for (std::size_t i = 0; i < job.messages.size(); ++i) {
    std::optional<std::string> line;
    if (!job.messages[i]) {
      line = rpc_line(job.messages[i].error());
    } else if (job.open[i]) {
      line = run_request(std::get<RpcRequest>(*job.messages[i]), *job.open[i]);
    }
    if (!line) continue;
    if (!job.array) return write(std::move(*line));
    answers += (answers.empty() ? "[" : ",") + *line;
  }
  if (!answers.empty()) write(answers + "]");
}

std::optional<std::string> StdioServer::run_request(const RpcRequest& request, Open& open) {
  {
    const std::lock_guard lock(mutex_);
    if (open.cancelled) {
      open_.erase(key_of(request.id));
      return std::nullopt;
    }
  }
  Params params(request.params);
  auto exchange = server_.open(request, params, &peer_);
  std::optional<std::string> line;
  if (!exchange) {
    line = rpc_line(RpcResponse{request.id, tl::unexpected(exchange.error())});
  } else {
    exchange->stop = open.stop.get_token();
    exchange->send = [this](std::string message) { write(std::move(message)); };
    if (!exchange->modern()) {
      exchange->ask = [this, &exchange](std::string_view method, const std::string& asked) {
        return peer_.ask(method, asked, exchange->send, exchange->stop);
      };
    }
    if (exchange->modern() && request.method == "subscriptions/listen") {
      line = start_listening(request, params, *exchange);
    } else {
      line = rpc_line(server_.answer(request, params, *exchange, &peer_));
    }
  }
  const std::lock_guard lock(mutex_);
  open_.erase(key_of(request.id));
  if (open.cancelled) return std::nullopt;
  return line;
}

std::optional<std::string> StdioServer::start_listening(const RpcRequest& request, Params& params,
                                                        const Exchange& exchange) {
  const std::string key = key_of(request.id);
  {
    const std::lock_guard lock(mutex_);
    if (listening_.size() >= limits::kMaxSubscriptions) {
      return refusal(request.id, kRpcInvalidParams,
                     "there may be at most " + std::to_string(limits::kMaxSubscriptions) +
                         " subscriptions at once");
    }
  }
  auto listening = server_.listen(request, params, exchange);
  if (!listening) return rpc_line(RpcResponse{request.id, tl::unexpected(listening.error())});
  const std::lock_guard lock(mutex_);
  const auto open = open_.find(key);
  if (open == open_.end() || !open->second->cancelled) listening_[key] = std::move(*listening);
  return std::nullopt;
}

void StdioServer::write(std::string line) {
  std::unique_lock lock(out_mutex_);
  out_changed_.wait(lock,
                    [this] { return outbox_.size() < limits::kMaxOutboxBytes || out_error_; });
  if (out_error_) return;
  outbox_ += line;
  outbox_ += '\n';
  if (!std::exchange(writing_, true)) out_changed_.notify_all();
}

void StdioServer::write_out() {
  std::string bytes;
  while (true) {
    {
      std::unique_lock lock(out_mutex_);
      writing_ = !outbox_.empty();
      out_changed_.wait(lock, [this] { return !outbox_.empty() || out_ended_; });
      if (outbox_.empty()) return;
      bytes.clear();
      bytes.swap(outbox_);
      out_changed_.notify_all();
    }
    std::string_view rest = bytes;
    while (!rest.empty()) {
      const ssize_t put = ::write(out_, rest.data(), rest.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) {
        const std::lock_guard lock(out_mutex_);
        out_error_ = io_error("write", "standard output", errno);
        out_changed_.notify_all();
        return;
      }
      rest.remove_prefix(static_cast<std::size_t>(put));
    }
    std::this_thread::sleep_for(kGather);
  }
}

}  // namespace skein::mcp
