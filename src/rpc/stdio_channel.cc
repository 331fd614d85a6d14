#include "rpc/stdio_channel.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/json.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kMaxOutboxBytes = 4 * limits::kMaxRpcBytes;
constexpr std::size_t kLastWordsBytes = 2000;
constexpr std::size_t kShownWordsBytes = 400;
constexpr auto kReadSlice = 500ms;  // after which the reader looks whether it shall stop
constexpr auto kWriteTime = 10min;  // for one message, if the server never reads
constexpr auto kLeaveTime = 2s;     // for a server to go after its input was closed
constexpr auto kTermTime = 1s;      // and after it was asked to

// Two texts of one id have one key.
std::string key_of(const Json& id) { return canonical_scalar(id.text()).value_or(id.text()); }

}  // namespace

Result<std::unique_ptr<StdioChannel>> StdioChannel::start(Spawn spawn, RpcInbox inbox) {
  spawn.in = spawn.out = spawn.err = Spawn::Stream::kPipe;
  SKEIN_ASSIGN(Subprocess process, Subprocess::start(spawn));
  return std::unique_ptr<StdioChannel>(new StdioChannel(std::move(process), std::move(inbox)));
}

StdioChannel::StdioChannel(Subprocess process, RpcInbox inbox)
    : process_(std::move(process)), inbox_(std::move(inbox)) {
  reader_ = std::jthread([this](const std::stop_token& stop) { read_all(stop); });
  writer_ = std::jthread([this](const std::stop_token& stop) { write_all(stop); });
}

StdioChannel::~StdioChannel() {
  writer_.request_stop();
  {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kTermTime, [this] { return writer_done_; })) process_.kill();
  }
  writer_.join();
  process_.close_input();
  if (!process_.wait(kLeaveTime)) {
    process_.terminate();
    if (!process_.wait(kTermTime)) process_.kill();
  }
  reader_.request_stop();
  reader_.join();
}

Result<void> StdioChannel::ended_under_lock() const {
  if (ended_) return fail(ErrorCode::kIo, *ended_);
  return {};
}

Result<void> StdioChannel::alive() {
  const std::lock_guard lock(mutex_);
  return ended_under_lock();
}

Result<void> StdioChannel::enqueue_under_lock(std::string line) {
  SKEIN_TRY(ended_under_lock());
  if (outbox_bytes_ + line.size() > kMaxOutboxBytes) {
    return fail(ErrorCode::kBusy,
                "it does not read: " + std::to_string(outbox_bytes_) + " bytes wait to be written");
  }
  outbox_bytes_ += line.size();
  outbox_.push_back(std::move(line));
  changed_.notify_all();
  return {};
}

Result<void> StdioChannel::notify(const RpcNotification& notification) {
  const std::lock_guard lock(mutex_);
  return enqueue_under_lock(rpc_line(notification) + "\n");
}

Result<RpcResponse> StdioChannel::call(const RpcCall& call) {
  const std::string key = key_of(call.request.id);
  std::string line = rpc_line(call.request) + "\n";
  Pending pending{SteadyClock::now()};
  std::unique_lock lock(mutex_);
  SKEIN_TRY(enqueue_under_lock(std::move(line)));
  pending_[key] = &pending;
  while (!pending.outcome) {
    const auto deadline = std::min(pending.touched + call.idle, call.end);
    changed_.wait_until(lock, call.stop, deadline, [&] { return pending.outcome.has_value(); });
    if (pending.outcome) break;
    if (call.stop.stop_requested()) {
      pending.outcome = fail(ErrorCode::kConflict, "stopped");
    } else if (SteadyClock::now() >= std::min(pending.touched + call.idle, call.end)) {
      pending.outcome = fail(ErrorCode::kBusy, "no answer in time");
    }
  }
  pending_.erase(key);
  return std::move(*pending.outcome);
}

void StdioChannel::touch(const Json& id) {
  const std::lock_guard lock(mutex_);
  const auto found = pending_.find(key_of(id));
  if (found != pending_.end()) found->second->touched = SteadyClock::now();
}

void StdioChannel::settle_under_lock(const std::string& key, Result<RpcResponse> outcome) {
  const auto found = pending_.find(key);
  if (found == pending_.end() || found->second->outcome) return;  // given up on, or said twice
  found->second->outcome = std::move(outcome);
  changed_.notify_all();
}

void StdioChannel::write_all(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !outbox_.empty() || ended_; }) && !ended_) {
    const std::string line = std::move(outbox_.front());
    outbox_.pop_front();
    outbox_bytes_ -= line.size();
    lock.unlock();
    const auto written = process_.write(line, kWriteTime);
    lock.lock();
    if (written) continue;
    // Of a program that has ended, the reader knows more: how, and its last words.
    changed_.wait_for(lock, stop, 2 * kReadSlice, [this] { return ended_.has_value(); });
    lock.unlock();
    end("it no longer reads: " + written.error().message);
    lock.lock();
  }
  writer_done_ = true;
  changed_.notify_all();
}

void StdioChannel::read_all(const std::stop_token& stop) {
  LineBuffer lines(limits::kMaxRpcBytes);
  LineBuffer::Line line;
  while (!stop.stop_requested()) {
    auto chunk = process_.read(kReadSlice);
    if (!chunk) return end(chunk.error().message);
    note_last_words(chunk->err);
    std::memcpy(lines.room(chunk->out.size()), chunk->out.data(), chunk->out.size());
    lines.fill(chunk->out.size());
    while (lines.next(line)) take_line(line);
    if (!chunk->ended) continue;
    const auto exit = process_.wait(kReadSlice);
    return end(exit ? "it ended with " + exit->str() : "it closed its output");
  }
}

void StdioChannel::take_line(const LineBuffer::Line& line) {
  if (line.too_long) {
    // Which call it answers cannot be told.
    const std::lock_guard lock(mutex_);
    for (const auto& entry : pending_) {
      settle_under_lock(entry.first, fail(ErrorCode::kInvalid,
                                          "it wrote a line of more than " +
                                              std::to_string(limits::kMaxRpcBytes) + " bytes"));
    }
    return;
  }
  if (trim_json(line.text).empty()) return;
  for (auto& message : parse_rpc_batch(line.text)) {
    if (message) {
      take_message(*message);
    } else {
      take_refusal(message.error(), line.text);
    }
  }
}

void StdioChannel::take_message(RpcMessage& message) {
  if (auto* response = std::get_if<RpcResponse>(&message)) {
    const std::string key = key_of(response->id);
    const std::lock_guard lock(mutex_);
    return settle_under_lock(key, std::move(*response));
  }
  if (const auto* request = std::get_if<RpcRequest>(&message)) {
    std::string line = rpc_line(inbox_.on_request(*request)) + "\n";
    const std::lock_guard lock(mutex_);
    // A server that does not read gets no answers.
    static_cast<void>(enqueue_under_lock(std::move(line)));
    return;
  }
  inbox_.on_notification(std::get<RpcNotification>(message));
}

void StdioChannel::take_refusal(const RpcRefusal& refusal, std::string_view line) {
  note_last_words("(no message: " + quote(line) + ")\n");
  const std::lock_guard lock(mutex_);
  settle_under_lock(key_of(refusal.id),
                    fail(ErrorCode::kInvalid, "its answer is malformed: " + refusal.error.message));
}

void StdioChannel::note_last_words(std::string_view text) {
  if (text.empty()) return;
  const std::lock_guard lock(mutex_);
  last_words_ += text;
  if (last_words_.size() > kLastWordsBytes) {
    last_words_.erase(0, last_words_.size() - kLastWordsBytes);
  }
}

void StdioChannel::end(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  std::string_view words = trim_json(last_words_);
  if (words.size() > kShownWordsBytes) words.remove_prefix(words.size() - kShownWordsBytes);
  ended_ = why;
  if (!words.empty()) *ended_ += "; it said last: " + quote(words, kShownWordsBytes);
  for (const auto& entry : pending_) settle_under_lock(entry.first, fail(ErrorCode::kIo, *ended_));
  changed_.notify_all();
}

}  // namespace skein
